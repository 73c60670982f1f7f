"""What models say of answers: read strictly from their replies, and whose word counts.

A score is a number from 0 to 1, or there is no score. Nothing else becomes a number: a 7, a NaN, a `"high"`, a
`true` or a list of the wrong length is None, which the posterior leaves out.

Covered: JSON in a fence, in prose, with apostrophes, raw line breaks or LaTeX's backslashes in its strings;
replies without any; scores that would reach later models or the user through a reply that is passed on whole.
Not covered: a model that writes its confidence into the answer in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuda_gym.agents.route_moa.answers import Belief, Proposal
from cuda_gym.models.chat_protocol import real_text

__all__ = [
    "SCORES",
    "Assessment",
    "Reading",
    "assess",
    "end_of_object",
    "has_scores",
    "plain_answer",
    "read_reply",
]

_DECODER = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r'\{\s*"')
_MOST_OBJECTS = 1000
"""Places tried in one reply: more are no answer, and reading them would take quadratic time."""
_BEGUN_ANSWER = re.compile(r'\{[^{}]*"answer"\s*:\s*"((?:[^"\\]|\\.)*+)\\?\Z', re.DOTALL)
_SCORE_NAMES = frozenset({"self_score", "peer_scores"})
_MOST_QUOTED = 4
"""Replies quoted in the answers of others: each doubles the backslashes of the one within."""
_ESCAPE = re.compile(
    r"""\\(?:(?P<latex>[bf](?=[A-Za-z])|(?:text(?:bf|it|rm)?|theta|times|tau|neq|nabla|rho|right)(?![a-z]))
          |(?P<json>["\\/bfnrt]|u[0-9a-fA-F]{4})
          |(?P<stray>))""",
    re.VERBOSE,
)
SCORES = re.compile(
    r"""["'`*]{0,3}\b(?:self_score|peer_scores)\b["'`*]{0,3}\s*[:=]\s*(?:["'`*]{1,3}\s*)?
        (?:\[[^\]]*\]?|[^\s,}\]]*)\s*,?""",
    re.VERBOSE,
)
"""A name of scores and their value, wherever in a text, in quotes or as Markdown has them."""
_BRACED = re.compile(r"(```(?:json)?\s*)?\{([^{}]*)\}(?(1)\s*```)")
_IN_PROGRESS = re.compile(r"[-+.\w]*\s*")
"""What a number or a literal may go on from."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a reply says."""

    answer: str
    """Without scores. Empty where the model handed in nothing: then it is no answer."""
    self_score: float | None
    """In [0, 1]; None is no score."""
    peer_scores: tuple[float | None, ...] = ()
    """For each answer of the layer before, in its order, whether it was shown or not."""


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What one layer says of the layer before."""

    judge: str | None
    """Whose scores count; None where nobody gave any."""
    peers: tuple[float | None, ...]
    """For each proposal of the layer before; None where there is no score."""


def read_reply(text: str, *, shown: Sequence[int] = (), num_answers: int | None = None) -> Reading:
    r"""Read a reply; never raises.

    Args:
        text: What the model wrote.
        shown: Which answers of the layer before its prompt held, by their index (`Prompt.shown`).
        num_answers: How many that layer gave; None is as many as were shown.

    The last JSON object that has an `answer` counts, since models think aloud before it. Without
    one the whole text is the answer and there are no scores; but where a limit cut an object off in
    the middle of its `answer`, that is it, as far as it came.

    >>> read_reply('Well: {"answer": "it\'s 4", "self_score": 0.9}')
    Reading(answer="it's 4", self_score=0.9, peer_scores=())
    >>> read_reply('{"answer": "4", "self_score": 7, "peer_scores": [0.2, 0.8]}', shown=[0, 2], num_answers=3)
    Reading(answer='4', self_score=None, peer_scores=(0.2, None, 0.8))
    """
    total = len(shown) if num_answers is None else num_answers
    said = _last_object(text)
    if said is None:
        begun = _begun_answer(text)
        answer = _without_scores(text) if begun is None else begun
        return Reading(answer=answer.strip(), self_score=None, peer_scores=(None,) * total)
    return Reading(
        answer=real_text(_answer_in(said)).strip(),
        self_score=_score(said.get("self_score")),
        peer_scores=_peer_scores(said.get("peer_scores"), shown, total),
    )


def has_scores(reply: str) -> bool:
    """Whether it may have any: they are named in it."""
    return any(name in reply for name in _SCORE_NAMES)


def plain_answer(reply: str) -> str:
    """What a reply hands on that should have been an answer alone.

    Some models go on giving scores when nobody asks; those must not reach the next reader.

    >>> plain_answer('{"answer": "42", "self_score": 0.9}'), plain_answer(' {"answer": 42} ')
    ('42', '{"answer": 42}')
    """
    return read_reply(reply).answer if has_scores(reply) else reply.strip()


def end_of_object(text: str) -> int | None:
    """Where the JSON object ends with which a text begins; None where it may go on, 0 where it is none.

    >>> end_of_object('{"a": 1} and'), end_of_object('{"a": tr'), end_of_object('{"a", "b"}')
    (8, None, 0)
    """
    escaped = _ESCAPE.sub(_escape, text)
    try:
        _, end = _DECODER.raw_decode(escaped)
    except json.JSONDecodeError as error:
        is_open = error.msg.startswith("Unterminated string")
        return None if is_open or _IN_PROGRESS.fullmatch(escaped, error.pos) else 0
    except (ValueError, RecursionError):
        return 0
    for stray in _ESCAPE.finditer(text, 0, end):
        end -= stray["json"] is None and stray.start() < end
    return end


def assess(
    earlier: Sequence[Proposal], current: Sequence[Proposal], beliefs: Mapping[str, Belief]
) -> Assessment:
    """What counts of the scores that the current layer gives the layer before.

    Only the best-rated model that gave any score is heard. What it says of its own earlier answer
    is no peer's score and is left out.

    Args:
        earlier: The proposals that were scored.
        current: Those that came with `peer_scores` for them.
        beliefs: Rate the judges.
    """
    for proposal in sorted(current, key=lambda one: (-beliefs[one.model].mean, one.model)):
        if len(proposal.peer_scores) != len(earlier):
            continue
        peers = tuple(
            None if judged.model == proposal.model else score
            for judged, score in zip(earlier, proposal.peer_scores, strict=True)
        )
        if any(score is not None for score in peers):
            return Assessment(judge=proposal.model, peers=peers)
    return Assessment(judge=None, peers=(None,) * len(earlier))


def _last_object(text: str) -> dict[str, Any] | None:
    """The last object at top level that has an `answer`."""
    escaped = _ESCAPE.sub(_escape, text)
    found: dict[str, Any] | None = None
    end = 0
    for attempt, place in enumerate(_OBJECT.finditer(escaped)):
        if attempt == _MOST_OBJECTS:
            break
        if place.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(escaped, place.start())
        except (ValueError, RecursionError):
            continue
        if "answer" in value:
            found = value
    return found


def _begun_answer(text: str) -> str | None:
    """Of an object that the text ends with in the middle of its `answer`."""
    begun = _BEGUN_ANSWER.search(text)
    if begun is None:
        return None
    said: str = _DECODER.decode(f'"{_ESCAPE.sub(_escape, begun[1])}"')
    return real_text(_without_scores(said))


def _answer_in(said: Mapping[str, Any]) -> str:
    """As a text; of one that is itself an answer with scores, what that says, and no score."""
    found: Mapping[str, Any] | None = said
    text = ""
    for _ in range(_MOST_QUOTED):
        if found is None:
            break
        answer = found["answer"]
        while isinstance(answer, dict) and "answer" in answer and _SCORE_NAMES & answer.keys():
            answer = answer["answer"]
        text = "" if answer is None else answer if isinstance(answer, str) else json.dumps(answer)
        if not has_scores(text):
            return text
        found = _last_object(text)
    return _without_scores(text)


def _without_scores(text: str) -> str:
    """Braces with nothing but scores in them go as well."""

    def rest_of(braced: re.Match[str]) -> str:
        within = SCORES.sub("", braced[2])
        return "" if within != braced[2] and not within.strip() else braced[0]

    return SCORES.sub("", _BRACED.sub(rest_of, text))


def _escape(match: re.Match[str]) -> str:
    """A backslash that JSON does not mean is doubled: models write LaTeX as it is."""
    return match[0] if match["json"] is not None else "\\" + match[0]


def _score(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _peer_scores(value: object, shown: Sequence[int], total: int) -> tuple[float | None, ...]:
    """By the place of each answer in its layer; a list of another length belongs to nothing."""
    scores: list[float | None] = [None] * total
    if isinstance(value, list) and len(value) == len(shown):
        for index, score in zip(shown, value, strict=True):
            scores[index] = _score(score)
    return tuple(scores)
