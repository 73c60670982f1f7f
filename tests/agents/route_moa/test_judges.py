"""Replies of models, well-formed and not, and whose scores count."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.agents.route_moa.answers import Belief, Proposal
from cuda_gym.agents.route_moa.judges import Reading, assess, read_reply
from cuda_gym.models.model import Completion, Usage

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\b\f"), max_size=80)
"""Without backspaces and form feeds: where a letter follows, `\\b` and `\\f` are read as LaTeX."""
QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(TEXT.filter(lambda text: text.strip()), st.floats(0, 1))
def test_what_a_model_hands_in_is_read_as_it_is(answer: str, score: float) -> None:
    reading = read_reply("Let me see.\n" + json.dumps({"answer": answer, "self_score": score}))
    assert (reading.answer, reading.self_score) == (answer.strip(), score)


@QUICK
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=4,
    )
)
def test_a_score_is_a_number_from_0_to_1_or_there_is_none(said: object) -> None:
    is_score = isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said <= 1
    reading = read_reply(
        json.dumps({"answer": "B", "self_score": said, "peer_scores": [said]}), shown=[0]
    )
    assert reading.self_score == (said if is_score else None)
    assert reading.peer_scores == ((said if is_score else None),)


@QUICK
@given(st.text(alphabet="{}[]\":,\\ \n'0.9eaNself_scoreanswerpeer_scores`", max_size=120))
def test_no_reply_is_too_odd_to_be_read(text: str) -> None:
    reading = read_reply(text, shown=[1], num_answers=3)
    assert len(reading.peer_scores) == 3
    assert reading.self_score is None or 0 <= reading.self_score <= 1


@pytest.mark.parametrize(
    "said", ["7", "-0.1", "NaN", "Infinity", '"high"', '"0.8"', "true", "null", "[0.5]", "1e999"]
)
def test_what_is_no_score_leaves_the_answer_and_no_score(said: str) -> None:
    reading = read_reply(f'{{"answer": "B", "self_score": {said}}}')
    assert (reading.answer, reading.self_score) == ("B", None)


@pytest.mark.parametrize("said", ["[0.5]", "[0.5, 0.5, 0.5]", "0.5", '{"1": 0.5}', "null"])
def test_a_list_of_the_wrong_length_scores_nobody(said: str) -> None:
    reading = read_reply(f'{{"answer": "B", "peer_scores": {said}}}', shown=[0, 1])
    assert reading.peer_scores == (None, None)


def test_one_bad_score_of_several_is_missing_alone() -> None:
    reading = read_reply('{"answer": "B", "peer_scores": [0.25, 7, 1]}', shown=[0, 1, 2])
    assert reading.peer_scores == (0.25, None, 1.0)


def test_scores_belong_to_the_answers_that_were_shown() -> None:
    reading = read_reply('{"answer": "B", "peer_scores": [0.25, 0.5]}', shown=[1, 3], num_answers=4)
    assert reading.peer_scores == (None, 0.25, None, 0.5)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('```json\n{"answer": "it\'s 4", "self_score": 0.5}\n```\nI hope so.', "it's 4"),
        ('{"answer": "line\nbreak", "self_score": 0.5}', "line\nbreak"),
        ('{"answer": "a } b { c", "self_score": 0.5}', "a } b { c"),
        ('{"answer": 4, "self_score": 0.5}', "4"),
        ('{"answer": "A"} No: {"answer": "B", "self_score": 0.5}', "B"),
        ('In a set {1, 2}: {"answer": "2", "self_score": 0.5}', "2"),
        (r'{"answer": "$\frac{1}{2} \times \sqrt{3}$ \boxed{x} \\alpha", "self_score": 0.5}',
         r"$\frac{1}{2} \times \sqrt{3}$ \boxed{x} \alpha"),
    ],
    ids=["fence", "line break", "braces", "number", "two", "set", "LaTeX"],
)  # fmt: skip
def test_an_answer_is_found_wherever_it_stands(text: str, answer: str) -> None:
    reading = read_reply(text)
    assert (reading.answer, reading.self_score) == (answer, 0.5)


def test_prose_is_an_answer_without_scores() -> None:
    reading = read_reply("I am sure that it is Paris.", shown=[0, 1])
    assert reading.answer == "I am sure that it is Paris."
    assert (reading.self_score, reading.peer_scores) == (None, (None, None))


@pytest.mark.parametrize(
    "text",
    [
        '{"self_score": 0.93, "peer_scores": [0.93, 0.1], "answer": "cut off',
        "{'answer': 'single quotes', 'self_score': 0.93}",
        'Paris.\nself_score: 0.93\npeer_scores = [0.93,\n 0.93]',
        "Paris.\n**self_score:** 0.93, **peer_scores**: [0.93]\n`self_score`: `0.93`",
    ],
)  # fmt: skip
def test_scores_of_a_broken_reply_go_to_no_other_model(text: str) -> None:
    reading = read_reply(text)
    assert "93" not in reading.answer
    assert reading.self_score is None


def wrapped(answer: object, times: int) -> object:
    return {"answer": wrapped(answer, times - 1), "self_score": 0.93} if times else answer


@pytest.mark.parametrize("times", [1, 2, 6, 300])
@pytest.mark.parametrize("answer", ["Paris", "Paris\nself_score: 0.93", ["Paris", 1]])
def test_no_score_stays_within_an_answer(answer: object, times: int) -> None:
    for said in (wrapped(answer, times), {"answer": json.dumps(wrapped(answer, times))}):
        reading = read_reply(json.dumps(said))
        assert "Paris" in reading.answer
        assert "93" not in reading.answer
        assert reading.self_score == (0.93 if times > 0 and "self_score" in said else None)  # type: ignore[operator]


@pytest.mark.parametrize(
    "before", ['{"answer": "', 'Let {x} be:\n```json\n{"self_score": 0.93, "answer":"']
)
@pytest.mark.parametrize(
    ("written", "came"),
    [
        ("", ""),
        (r"It is \"4\" for", 'It is "4" for'),
        (r"It is \frac{1}{2}\n{so", "It is \\frac{1}{2}\n{so"),
        ("It is\\n\\u00e9 \\", "It is\né"),
        ("It is 4\nself_score: 0.93", "It is 4"),
    ],
)
def test_of_an_answer_that_a_limit_cut_off_there_is_what_came(
    before: str, written: str, came: str
) -> None:
    assert read_reply(before + written) == Reading(answer=came, self_score=None)


def test_an_answer_without_scores_is_handed_on_as_it_is_whatever_its_form() -> None:
    said = {"answer": {"answer": "4", "unit": "m"}, "self_score": 0.93}
    assert read_reply(json.dumps(said)).answer == '{"answer": "4", "unit": "m"}'


def test_half_a_character_is_no_text_that_could_be_printed() -> None:
    reading = read_reply(r'{"answer": "\ud83d\ude00 \ud83d", "self_score": 0.5}')
    assert reading.answer == "\N{GRINNING FACE} \N{REPLACEMENT CHARACTER}"


def test_a_model_that_hands_in_nothing_has_an_empty_answer() -> None:
    assert read_reply('{"answer": null, "self_score": 0.9}').answer == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 30_000,
        "{" * 200_000,
        '{"answer": ' + "1" * 100_000 + "}",
        "{" + '"answer": "' * 30_000,
    ],
)
def test_a_reply_made_to_be_slow_is_read_in_time(text: str) -> None:
    started = time.perf_counter()
    assert read_reply(text).self_score is None
    assert time.perf_counter() - started < 2


BELIEFS = {
    name: Belief(mean=mean, weight=0) for name, mean in zip("abc", (0.5, 0.9, 0.7), strict=True)
}


def test_the_best_rated_model_that_gave_scores_is_the_judge() -> None:
    earlier = [proposal("x", ()), proposal("y", ())]
    current = [proposal("a", (0.1, 0.1)), proposal("b", (None, None)), proposal("c", (0.3, None))]
    found = assess(earlier, current, BELIEFS)
    assert (found.judge, found.peers) == ("c", (0.3, None))


def test_nobody_judges_its_own_earlier_answer() -> None:
    earlier = [proposal("b", ()), proposal("y", ())]
    assert assess(earlier, [proposal("b", (1.0, 0.2))], BELIEFS).peers == (None, 0.2)
    assert assess(earlier[:1], [proposal("b", (1.0,))], BELIEFS).judge is None


def test_without_scores_there_is_no_judge() -> None:
    found = assess([proposal("x", ())], [proposal("a", ()), proposal("b", (None,))], BELIEFS)
    assert (found.judge, found.peers) == (None, (None,))


def proposal(model: str, peer_scores: tuple[float | None, ...]) -> Proposal:
    """An answer of the second layer that scores the first."""
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    return Proposal(
        model=model,
        layer=1 if peer_scores else 0,
        text="B",
        self_score=None,
        peer_scores=peer_scores,
        completion=Completion(model=model, text="B", usage=usage, latency_s=1.0, cost_usd=0.0),
    )
