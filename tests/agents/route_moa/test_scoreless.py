"""Replies in pieces that end anywhere: no score is passed on, and nothing else is kept for long."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.agents.route_moa.judges import end_of_object, has_scores, plain_answer
from cuda_gym.agents.route_moa.scoreless import Scoreless

ANSWER = '{"answer": "It is 4}.", "peer_scores": [0.8125, 0.8125], "self_score": 0.8125}'
CODE = """\
Use this:
```cuda
const char* names[] = {"x", "y"};
__global__ void f(float* s) { if (s[0] > 1) { s[0] = myself_scores; } }
```
and `{"a": x}` or {'b': "p"}, s, "self", {  }, {"open": [1, {"c": 2}]}
```json
{"name": "f", "grid": 12}
```
"""
REPLIES = {
    f"Well: {ANSWER}": "Well: It is 4}.",
    f"Well: {ANSWER}\nDone.": "Well: It is 4}.\nDone.",
    f"Well:\n```json\n{ANSWER}\n```\nDone.": "Well:\nIt is 4}.\nDone.",
    f"Well:\n```json\n{ANSWER}\n// end\n```": "Well:\n```json\nIt is 4}.\n// end\n```",
    f"Well: {ANSWER[:-5]}": 'Well: {"answer": "It is 4}.",',
    'It is 4.\n{"self_score": 0.8125, "peer_scores": [0.8125]}': "It is 4.\n",
    'It is 4.\n```json\n{"self_score": 0.8125}\n```': "It is 4.\n",
    "It is 4.\nself_score: 0.8125": "It is 4.\n",
    "It is 4.\npeer_scores = [0.8125,\n 0.8125], so": "It is 4.\n so",
    "It is 4 {'self_score': 0.8125, 'of': 1}": "It is 4 { 'of': 1}",
    'It is 4 {"of": {"self_score": 0.8125}, "in": 1}': 'It is 4 {"of": , "in": 1}',
    r'So {"answer": "\frac{1}{2} \\ \"", "self_score": 0.8125} x': r'So \frac{1}{2} \ " x',
    f"{ANSWER} Done.": "It is 4}.",
    f"\n```json\n{ANSWER}\n```\nDone.": "\nIt is 4}.",
    f'{{"draft": 1}} {ANSWER}': "It is 4}.",
    f'\n{{"draft": 1}}\n```json\n{{"answer": 5}}\n```\n{ANSWER} Done.': "\nIt is 4}.",
    '{"draft": 1} self_score: 0.8125': '{"draft": 1}',
    '{"draft": 1}\n{"self_score": 0.8125}': '{"draft": 1}',
    '{"a": 1}\n{"b": 2}\n': '{"a": 1}\n{"b": 2}\n',
    f'{{"a": 1}} is JSON. {ANSWER}': '{"a": 1} is JSON. It is 4}.',
    "It is 4.\n**self_score:** 0.8125, **so**": "It is 4.\n **so**",
    "It is 4.\n**self_score**: 0.8125": "It is 4.\n",
    "It is 4.\n- `peer_scores`: `[0.8125, 0.8125]` **x**": "It is 4.\n- ` **x**",
    '{"answer": "It is 4.\\nself_score: 0.8125"}': "It is 4.",
    '{"answer": {"answer": "It is 4.", "self_score": 0.8125}, "self_score": 0.5}': "It is 4.",
    '{"self_score": 0.8125}': "",
    CODE: CODE,
}  # fmt: skip


def passed_on(*pieces: str) -> str:
    reply = Scoreless()
    return "".join([*map(reply.add, pieces), reply.rest()])


@pytest.mark.parametrize(("text", "shown"), REPLIES.items())
def test_what_is_passed_on_has_no_score_wherever_the_pieces_end(text: str, shown: str) -> None:
    assert "0.8125" not in shown
    assert passed_on(*text) == shown
    for border in range(len(text) + 1):
        assert passed_on(text[:border], text[border:]) == shown
        assert passed_on(text[:border], text[border : border + 3], text[border + 3 :]) == shown


@pytest.mark.parametrize(
    "text", [one for one in REPLIES if "is JSON" not in one and one.lstrip()[0] in "{`"]
)
def test_a_reply_that_begins_with_its_answer_or_a_draft_is_what_it_is_at_once(text: str) -> None:
    assert passed_on(*text).strip() == plain_answer(text)


def test_of_code_and_prose_only_what_may_become_a_score_is_held_back() -> None:
    reply, num_said = Scoreless(), 0
    held = []
    for num_heard, character in enumerate(CODE, 1):
        num_said += len(reply.add(character))
        held.append(CODE[num_said:num_heard])
    objects = ('{"open": [1, {"c": 2}]', '```json\n{"name": "f", "grid": 12}\n``')
    within = [one for one in held if not any(whole.startswith(one) for whole in objects)]
    assert max(within, key=len) == '{"a": x'


PARTS = [
    *'{}":,= \n\\`[]',
    '"answer"',
    "self_score",
    "peer_score",
    "s",
    "0.8125",
    "```json",
    "**",
    ": ",
    '{"',
    ANSWER,
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.integers(0, 99))
def test_where_pieces_end_changes_nothing_and_without_scores_nothing_is_changed(
    text: str, border: int
) -> None:
    shown = passed_on(text)
    assert passed_on(*text) == passed_on(text[:border], text[border:]) == shown
    assert has_scores(text) or shown == text


@pytest.mark.parametrize("text", ['{"a": "' + "x" * 40_000 + '"}', '{"a":' * 2_000, '{"' * 8_000])
def test_a_long_reply_in_small_pieces_is_read_in_time(text: str) -> None:
    started = time.perf_counter()
    assert passed_on("So ", *(text[at : at + 4] for at in range(0, len(text), 4))) == f"So {text}"
    assert time.perf_counter() - started < 5


def test_objects_at_the_beginning_are_held_back_until_something_else_follows() -> None:
    reply = Scoreless()
    said = [reply.add(piece) for piece in ('{"b": 1}', "\n", '{"c": 2}', "\n", "So", " it is")]
    assert said == ["", "", "", "", '{"b": 1}\n{"c": 2}\nSo', " it is"]


def test_an_object_is_held_back_to_its_end_and_no_further() -> None:
    reply = Scoreless()
    assert [reply.add(piece) for piece in ('A: {"b": ', '[{"c": 1', "}]}", " D")] == [
        "A: ",
        "",
        '{"b": [{"c": 1}]}',
        " D",
    ]


@pytest.mark.parametrize(
    "said",
    [
        {"a": -1.5e-7, "b": [True, None, {}], "c": "\n\" \\ \u1234 'x'"},
        {"answer": r"\boxed{x} \u12 \t", "d": {"e": [[]]}},
        {"f": float("nan"), "g": float("-inf")},
    ],
)
def test_every_beginning_of_an_object_may_go_on(said: object) -> None:
    for text in (json.dumps(said), json.dumps(said, indent=1, ensure_ascii=False)):
        assert [end_of_object(text[:end]) for end in range(1, len(text))] == [None] * (
            len(text) - 1
        )
        assert end_of_object(text) == end_of_object(text + " }") == len(text)


@pytest.mark.parametrize("text", ['{"a", "b"}', '{"a": x}', '{"a" 1,', '{"a": "b";', "{'a'"])
def test_what_is_no_object_is_known_to_be_none(text: str) -> None:
    assert end_of_object(text) == 0
