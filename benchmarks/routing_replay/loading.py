"""Recorded answers of real models, as pools of questions.

Recorded: what each model answered, whether it was right, and how many characters it wrote. Assumed: list
prices and round speeds by size (`pools.json`), a context of 32,768 tokens for all, and for LLMRouter,
which records scores alone, outputs of 1,000 characters. Estimated: tokens, as characters / 4.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, RouterPrice, Speed
from cuda_gym.models.model import Prices

__all__ = ["POOLS", "ROUTER", "Pool", "Question", "Recording", "data_folder", "load_pool"]

POOLS = ("mmlu_pro_15", "mmlu_pro_5_small", "zeroeval_28", "zeroeval_7_cheap", "llmrouter")

CONTEXT_TOKENS = 32_768
ROUTER = RouterPrice(usd_per_cpu_hour=0.05)
"""Assumed, as a rented core costs about that."""
UNRECORDED_OUTPUT_CHARS = 1_000

_LETTERS = "ABCDEFGHIJ"
_BILLIONS = re.compile(r"(\d+)b\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What one model did with one question."""

    answer: str | None
    """A short name of what it said, the same for what the grader takes as the same; None where nothing
    could be read from its output."""
    score: float
    """1 right, 0 wrong; shares in between for a few tasks of LLMRouter."""
    output_chars: int
    """Of all that it wrote."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, as models are asked."""

    id: str
    text: str
    category: str
    asked: str = ""
    """What is asked, where the text has more than that."""

    @property
    def key(self) -> str:
        """By this questions are known that ask the same, whatever their case, spaces and marks."""
        return "".join(re.findall(r"\w+", (self.asked or self.text).casefold()))


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Questions, and what a set of models did with them."""

    name: str
    questions: tuple[Question, ...]
    recordings: Mapping[str, Mapping[str, Recording]]
    """By model, then by question; a question that a model was not asked is missing."""
    roster: Roster
    answers_are_recorded: bool = True
    """Whether answers can be compared with each other, not only with the truth."""
    fixed_split: tuple[frozenset[str], frozenset[str]] | None = None
    """Questions to train and to test on, where the data names them."""
    num_repeated: int = 0
    """Of the data: questions whose text came before. They are not among these."""
    by_text: Mapping[str, Question] = field(init=False)
    _scores: Mapping[tuple[str, str], float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scores = {
            (question, said.answer): said.score
            for records in self.recordings.values()
            for question, said in records.items()
            if said.answer is not None
        }
        object.__setattr__(self, "by_text", {one.text: one for one in self.questions})
        object.__setattr__(self, "_scores", scores)

    @property
    def models(self) -> tuple[str, ...]:
        """In the order of the roster."""
        return self.roster.names

    def score(self, question: str, answer: str | None) -> float:
        """How right an answer is; one that no model gave is wrong."""
        return self._scores.get((question, answer), 0.0) if answer is not None else 0.0

    def labels(self, questions: Sequence[Question]) -> npt.NDArray[np.float64]:
        """Scores by question and model; NaN where a model was not asked."""
        nobody = Recording(answer=None, score=math.nan, output_chars=0)
        return np.array(
            [
                [self.recordings[model].get(one.id, nobody).score for model in self.models]
                for one in questions
            ]
        )


def data_folder() -> Path:
    """Where the recorded answers lie: beside the repository, which does not hold them."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "routing"


def load_pool(folder: Path, name: str) -> Pool:
    """Read one pool.

    Args:
        folder: With `pools.json` and the recorded answers.
        name: One of `POOLS`.
    """
    assumed = json.loads((folder / "pools.json").read_text("utf-8"))
    if name == "llmrouter":
        return _llmrouter(_read(folder, "llmrouter"))
    described = assumed["pools"][name]
    models = described["models"]
    data = _read(folder, described["data"])
    gather = _mmlu_pro if described["data"] == "mmlu_pro" else _zeroeval
    questions, recordings = gather(data, models)
    roster = Roster.of_pools(folder / "pools.json", name, context_tokens=CONTEXT_TOKENS)
    different = _of_different_texts(questions)
    return Pool(
        name=name,
        questions=different,
        num_repeated=len(questions) - len(different),
        recordings=recordings,
        roster=Roster(tuple(roster), router=ROUTER),
    )


def _of_different_texts(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The first of each text: a conversation is known by the text of its question."""
    texts: dict[str, Question] = {}
    for question in questions:
        texts.setdefault(question.text, question)
    return tuple(texts.values())


def _mmlu_pro(
    data: Mapping[str, Any], models: Sequence[str]
) -> tuple[list[Question], dict[str, dict[str, Recording]]]:
    questions = [
        Question(
            id=key,
            text=_lettered(asked),
            category=asked["category"],
            asked=f"{asked['question']} {asked['options'][_LETTERS.index(asked['answer'])]}",
        )
        for key, asked in data["questions"].items()
    ]
    gold = {key: asked["answer"] for key, asked in data["questions"].items()}
    recordings = {
        model: {
            key: Recording(
                answer=said["prediction"],
                score=float(said["prediction"] == gold[key]),
                output_chars=said["output_chars"],
            )
            for key, said in data["models"][model].items()
        }
        for model in models
    }
    return questions, recordings


def _lettered(asked: Mapping[str, Any]) -> str:
    options = "\n".join(
        f"({letter}) {text}" for letter, text in zip(_LETTERS, asked["options"], strict=False)
    )
    return (
        f"{asked['question']}\n\n{options}\n\n"
        "Think step by step, then give the letter of the right option in \\boxed{}."
    )


def _zeroeval(
    data: Mapping[str, Any], models: Sequence[str]
) -> tuple[list[Question], dict[str, dict[str, Recording]]]:
    questions: list[Question] = []
    recordings: dict[str, dict[str, Recording]] = {model: {} for model in models}
    for category, part in data.items():
        for key, asked in part["questions"].items():
            text = (
                f"{asked['question']}\n\nThink step by step, then give the answer in \\boxed{{}}."
            )
            question = Question(id=f"{category}/{key}", text=text, category=category)
            questions.append(question)
            names: dict[str, str] = {}
            for model in models:
                said = part["models"][model].get(key)
                if said is not None:
                    recordings[model][question.id] = _named(said, names)
    return questions, recordings


def _named(said: Mapping[str, Any], names: dict[str, str]) -> Recording:
    """A recording whose answer is a name: one for all right answers, one for each wrong value."""
    written = "" if said["prediction"] is None else str(said["prediction"])
    value = "".join(written.split()).strip("'\"").casefold()
    key = "right" if said["correct"] else f"wrong {value}"
    answer = names.setdefault(key, f"value {len(names) + 1}") if said["correct"] or value else None
    return Recording(answer=answer, score=float(said["correct"]), output_chars=said["output_chars"])


def _llmrouter(data: Mapping[str, Any]) -> Pool:
    """Scores alone: what a model said is named after the model, and agrees with nothing."""
    prices = data["prices_usd_per_million_tokens"]
    models = [name for name in prices if name in data["train"][0]["scores"]]
    rows = [(part, row) for part in ("test", "train") for row in data[part]]
    asked = [
        Question(id=f"{part}/{place}", text=row["question"], category=row["task"])
        for place, (part, row) in enumerate(rows)
    ]
    # The first of each text counts: a question of both parts is one of the test alone.
    questions = _of_different_texts(asked)
    kept = {question.id for question in questions}
    recordings = {
        model: {
            question.id: Recording(
                answer=f"reply {number}",
                score=float(row["scores"][model]),
                output_chars=UNRECORDED_OUTPUT_CHARS,
            )
            for question, (_, row) in zip(asked, rows, strict=True)
            if question.id in kept and model in row["scores"]
        }
        for number, model in enumerate(models, 1)
    }
    entries = (
        _entry(name, price["input_price"], price["output_price"], _speed_of(price["size"]))
        for name, price in ((name, prices[name]) for name in models)
    )
    return Pool(
        name="llmrouter",
        questions=questions,
        num_repeated=len(asked) - len(questions),
        recordings=recordings,
        roster=Roster(tuple(entries), router=ROUTER),
        answers_are_recorded=False,
        fixed_split=(
            frozenset(name for name in kept if name.startswith("train/")),
            frozenset(name for name in kept if name.startswith("test/")),
        ),
    )


def _speed_of(size: str) -> Speed:
    """A round figure, as `pools.json` has for models of that size."""
    found = _BILLIONS.search(size)
    billions = int(found[1]) if found else 70
    if billions <= 10:
        return Speed(first_token_s=0.3, tokens_per_s=120.0)
    return Speed(first_token_s=0.5, tokens_per_s=45.0)


def _entry(name: str, input_usd: float, output_usd: float, speed: Speed) -> RosterEntry:
    return RosterEntry(
        name=name,
        prices=Prices(input_usd_per_million=input_usd, output_usd_per_million=output_usd),
        speed=speed,
        context_tokens=CONTEXT_TOKENS,
        billing="assumed",
    )


def _read(folder: Path, name: str) -> Any:
    with gzip.open(folder / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)
