"""What an aggregator writes, in pieces: the same as at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from tests.agents.route_moa.crews import QUERY, Crowd, One, reply

from cuda_gym.agents.route_moa.answers import Answer, NoAnswer
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.ranking import Budget
from cuda_gym.errors import ModelUnavailable
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message
from cuda_gym.models.scripted import ScriptedModel

CODE = "```python\nanswers = {'a': 1, 'b': 2}\nprint(answers)\n```"
SCORED = reply("Nice", 0.8125, [0.3125])


def mixture(*aggregated: str) -> Mixture:
    """Of models that do not agree; each writes its own in the end."""
    said = (*aggregated, *aggregated)[:2]
    crowd = Crowd({name: One(says=[name, text]) for name, text in zip("ab", said, strict=True)})
    return crowd.mixture(MixturePlan(max_layers=1), PosteriorWeights(agreement=1.0))


def streamed(one: Mixture) -> tuple[list[str], Answer]:
    *pieces, answer = one.stream(QUERY)
    assert isinstance(answer, Answer)
    return [piece for piece in pieces if isinstance(piece, str)], answer


@pytest.mark.parametrize(
    "text",
    [
        SCORED,
        f"\n {SCORED}\n",
        f"```json\n{SCORED}\n```",
        f'{{"draft": "Cannes"}} {SCORED}',
        '{"answer": "Nice"}',
        '{"open": 1',
        "{}",
        "It is Nice.",
        CODE,
        "`",
        "It is Nice.\nself_score: 0.8125",
        'It is Nice.\n```json\n{"self_score": 0.8125}\n```\n',
    ],
)
def test_it_is_the_same_in_pieces_as_at_once(text: str) -> None:
    pieces, answer = streamed(mixture(text))
    assert answer.text == "".join(pieces).strip() == mixture(text).answer(QUERY).text
    assert "0.8125" not in answer.text
    assert answer.route.aggregator == "a"


def test_of_scores_behind_prose_the_reader_of_a_stream_sees_none() -> None:
    pieces, answer = streamed(mixture(f"Let me see: {SCORED} I hope."))
    assert pieces == ["Let", " me", " see:", " ", "Nice", " I", " hope."]
    assert answer.text == "Let me see: Nice I hope."


@pytest.mark.parametrize("text", [CODE, "It is Nice, in France."])
def test_code_and_prose_come_as_they_are_written(text: str) -> None:
    pieces, _ = streamed(mixture(text))
    assert len(pieces) > 3


def test_json_without_an_answer_in_it_leaves_the_word_to_the_next_model() -> None:
    nothing = reply("", 0.9)
    pieces, answer = streamed(mixture(nothing, "Nice"))
    assert (pieces, answer.text, answer.route.aggregator) == (["Nice"], "Nice", "b")
    whole = mixture(nothing, "Nice").answer(QUERY)
    assert whole.text == "Nice"
    told = [[line.billed_for for line in one.route.bill.lines] for one in (answer, whole)]
    assert told[0] == told[1]
    assert told[0][-2:] == ["failed", "aggregator"]


def test_a_stream_that_ends_without_its_completion_is_an_error_and_no_beginning_of_another() -> (
    None
):
    class Ends(ScriptedModel):
        def stream(
            self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
        ) -> Iterator[str | Completion]:
            yield "Ni"

    crowd = Crowd({name: One(says=[name, "Nice"]) for name in "ab"})
    crowd.scripted["a"] = Ends("a", ["a"])
    stream = crowd.mixture(MixturePlan(max_layers=1), PosteriorWeights(agreement=1.0)).stream(QUERY)
    assert next(stream) == "Ni"
    with pytest.raises(NoAnswer, match="ends with one") as caught:
        next(stream)
    assert caught.value.bill.lines[-1].billed_for == "failed"
    assert caught.value.bill.lines[-1].usage.completion_tokens == 1


@pytest.mark.parametrize("begins", [False, True])
def test_a_model_that_hangs_is_left_behind_with_its_prompt_and_its_words_on_the_bill(
    begins: bool,
) -> None:
    end = threading.Event()

    class Hangs(ScriptedModel):
        def stream(
            self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
        ) -> Iterator[str | Completion]:
            if begins:
                yield "Nice it"
            end.wait(30)

    crowd = Crowd({name: One(says=[name, "Nice"], latency_s=0.0) for name in "ab"})
    crowd.scripted["a"] = Hangs("a", ["a"])
    plan = MixturePlan(max_layers=1, limits=Limits(timeout_s=0.3), budget=Budget(usd=1.0))
    one = crowd.mixture(plan, PosteriorWeights(agreement=1.0))
    if begins:
        with pytest.raises(
            NoAnswer, match="a broke off after 7 characters: it was not done"
        ) as got:
            streamed(one)
        failed = got.value.bill.lines[-1]
    else:
        pieces, answer = streamed(one)
        assert (pieces, answer.route.aggregator) == (["Nice"], "b")
        failed = answer.route.bill.lines[-2]
    assert (failed.model, failed.billed_for) == ("a", "failed")
    assert failed.usage.prompt_tokens > 0
    assert failed.usage.completion_tokens == (3 if begins else 0)
    assert not end.is_set()
    end.set()


def test_what_breaks_off_before_anything_was_passed_on_is_billed_and_replaced() -> None:
    class Breaks(ScriptedModel):
        def stream(
            self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
        ) -> Iterator[str | Completion]:
            yield '{"answer": "Ni'
            raise ModelUnavailable("the connection was cut")

    crowd = Crowd({name: One(says=[name, "Nice"]) for name in "ab"})
    crowd.scripted["a"] = Breaks("a", ["a"])
    one = crowd.mixture(MixturePlan(max_layers=1), PosteriorWeights(agreement=1.0))
    pieces, answer = streamed(one)
    assert (pieces, answer.route.aggregator) == (["Nice"], "b")
    failed = answer.route.bill.lines[-2]
    assert (failed.model, failed.billed_for) == ("a", "failed")
    assert failed.usage.completion_tokens == 5
