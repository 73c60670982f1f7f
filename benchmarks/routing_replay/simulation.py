r"""What is not recorded: scores that models give, and what they say once they saw other answers.

SIMULATED, all of it, by these rules; every draw follows from (seed, question, model, what it is for).

    self score      sigmoid(generosity + 1.2 z), z = d right + noise, with d such that right and wrong answers are
                    told apart with an area under the curve of `self_auc`; generosity is the model's own, drawn
                    once around 1.2, so that most are too sure; rounded to 0.05 as models do
    peer score      likewise, but what is told apart, with `peer_auc`, are answers that say what the judge itself was
                    recorded to say, and others: a judge knows no more than it knows; one without a result gets 0
    second layer    a model that reads other answers says what most of them say with probability `adoption`,
                    else its own recorded answer; of two that are said equally often, the one shown first
    sparse judge    keeps the answers to which its peer scores are highest
    aggregator      says what most of the answers say, of several such its own if that is one of them, else the
                    one shown first (they come best model first); with probability `drift` it
                    says its own recorded answer whatever it read

A text is as long as the model's recorded output: its words are not recorded, its length is.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

from benchmarks.routing_replay.loading import Pool, Recording

from cuda_gym.agents.route_moa.prompts import Step, compose
from cuda_gym.models.model import Message
from cuda_gym.models.replaying import Recorded, ReplayingModel

__all__ = ["Rules", "answer_in", "replaying_models", "written"]

_FILLER = "Of this working the record keeps the length alone. "
_BOXED = re.compile(r"\\boxed\{([^{}]+)\}")
_FIRST_ANSWER = re.compile(r"\n\n\[(ANSWER_*) 1\]\n")
_KEPT = re.compile(r'\{"keep": \[([\d, ]+)\]\}')
_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The figures of the rules."""

    self_auc: float = 0.65
    peer_auc: float = 0.9
    adoption: float = 0.5
    drift: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("self_auc", "peer_auc", "adoption", "drift"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it lies between 0 and 1")


class Asked(NamedTuple):
    """What a conversation asks for."""

    question: str
    step: str
    """Of `Step`; or `keep` and how many, of a sparse mixture's judge."""
    seen: tuple[str | None, ...]
    """The results of the answers that it shows."""

    @classmethod
    def in_messages(cls, messages: Sequence[Message], pool: Pool) -> Asked:
        """Read a prompt of the mixture back."""
        text = messages[-1].content
        found = _FIRST_ANSWER.search(text)
        query, shown = (text, "") if found is None else (text[: found.start()], text[found.end() :])
        seen: tuple[str | None, ...] = ()
        if found is not None:
            blocks = re.split(rf"\n\n\[{found[1]} \d+\]\n", shown)
            seen = tuple(answer_in(block) for block in blocks)
        return cls(pool.by_text[query].id, _step(messages[0].content, len(seen)), seen)


def replaying_models(pool: Pool, rules: Rules) -> dict[str, ReplayingModel]:
    """A model for each of the pool's, that answers what was recorded and what these rules make of it."""

    def key(messages: Sequence[Message]) -> str:
        return json.dumps(Asked.in_messages(messages, pool))

    return {
        entry.name: ReplayingModel(
            entry.name,
            _Replies(pool, entry.name, rules),
            key=key,
            prices=entry.prices,
            first_token_s=entry.speed.first_token_s,
            tokens_per_s=entry.speed.tokens_per_s,
        )
        for entry in pool.roster
    }


def answer_in(text: str) -> str | None:
    r"""The result in the last box of a text.

    >>> answer_in("So it is \\boxed{B}"), answer_in("Who knows?")
    ('B', None)
    """
    found = _BOXED.findall(text)
    return found[-1] if found else None


def written(answer: str | None, chars: int, model: str) -> str:
    """A text of about that length with a result; without one it agrees with no other."""
    end = f"\\boxed{{{answer}}}" if answer is not None else f"{model} comes to no result."
    missing = max(0, chars - len(end))
    return (_FILLER * (missing // len(_FILLER) + 1))[:missing] + end


class _Replies(Mapping[str, Recorded]):
    """The replies of one model, made when they are asked for."""

    def __init__(self, pool: Pool, model: str, rules: Rules) -> None:
        self._pool = pool
        self._model = model
        self._rules = rules
        self._recordings = pool.recordings[model]

    def __getitem__(self, key: str) -> Recorded:
        question, step, seen = json.loads(key)
        own = self._recordings[question]
        answer = self._answer(question, step, seen, own)
        text = written(answer, own.output_chars, self._model)
        if step.startswith("keep"):
            text = json.dumps({"keep": self._kept(question, own, seen, int(step.split()[1]))})
        reply: dict[str, object] = {}
        if step in (Step.FIRST.value, Step.AGAIN.value):
            reply["self_score"] = self._self_score(question, step, answer)
        if step in (Step.AGAIN.value, Step.JUDGE.value):
            reply["peer_scores"] = [self._peer_score(question, own, one) for one in seen]
        if reply:
            text = json.dumps({"answer": text, **reply})
        return Recorded(text=text, is_estimated=True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._recordings)

    def __len__(self) -> int:
        return len(self._recordings)

    def _answer(
        self, question: str, step: str, seen: Sequence[str | None], own: Recording
    ) -> str | None:
        most = _most_said(seen)
        if not most or step == Step.FIRST.value:
            return own.answer
        draw = _uniform(self._rules.seed, question, self._model, step)
        if step == Step.AGGREGATE.value:
            follows = draw >= self._rules.drift
            return (own.answer if own.answer in most else most[0]) if follows else own.answer
        return most[0] if draw < self._rules.adoption else own.answer

    def _kept(
        self, question: str, own: Recording, seen: Sequence[str | None], number: int
    ) -> list[int]:
        """Places from 1, best first."""
        scores = [self._peer_score(question, own, answer) for answer in seen]
        best = sorted(range(len(seen)), key=lambda place: -scores[place])
        return [place + 1 for place in best[:number]]

    def _self_score(self, question: str, step: str, answer: str | None) -> float:
        right = self._pool.score(question, answer) >= 0.5
        noise = _normal(self._rules.seed, question, self._model, step, "self")
        return _score(self._model, self._rules, right, self._rules.self_auc, noise)

    def _peer_score(self, question: str, own: Recording, judged: str | None) -> float:
        """The same for the same answer: a judge does not see whose it is."""
        if judged is None:
            return 0.0
        is_own = judged == own.answer
        noise = _normal(self._rules.seed, question, self._model, judged, "peer")
        return _score(self._model, self._rules, is_own, self._rules.peer_auc, noise)


def _score(model: str, rules: Rules, stands_out: bool, auc: float, noise: float) -> float:
    generosity = 1.2 + 0.7 * _normal(rules.seed, model, "generosity")
    z = (_distance(auc) if stands_out else 0.0) + noise
    return round(20 / (1 + math.exp(-(generosity + 1.2 * z)))) / 20


@cache
def _distance(auc: float) -> float:
    """Between two normal distributions of spread 1 that are told apart so well."""
    return math.sqrt(2) * _NORMAL.inv_cdf(min(max(auc, 0.001), 0.999))


def _most_said(seen: Sequence[str | None]) -> list[str]:
    """The results that are said most often, in the order in which they are shown."""
    counts = Counter(answer for answer in seen if answer is not None)
    most = max(counts.values(), default=0)
    return [answer for answer, count in counts.items() if count == most]


@cache
def _steps(number: int) -> Mapping[str, str]:
    """Steps by the instructions that they begin with, when so many answers are shown."""
    return {
        compose(step, "", ["-"] * number, context_tokens=1_000_000, reserve_tokens=0)
        .messages[0]
        .content: step.value
        for step in reversed(Step)
        if number or step is not Step.JUDGE  # without answers it is asked for as `LAST` is
    }


def _step(instructions: str, number: int) -> str:
    if (step := _steps(number).get(instructions)) is not None:
        return step
    if (kept := _KEPT.search(instructions)) is not None:
        return f"keep {kept[1].count(',') + 1}"
    raise ValueError(f"no step of a mixture begins so: {instructions[:200]!r}")


def _uniform(*about: object) -> float:
    """In (0, 1), the same for the same."""
    digest = hashlib.blake2b("\0".join(map(str, about)).encode(), digest_size=7).digest()
    return (int.from_bytes(digest) + 0.5) / 2**56


def _normal(*about: object) -> float:
    return _NORMAL.inv_cdf(_uniform(*about))
