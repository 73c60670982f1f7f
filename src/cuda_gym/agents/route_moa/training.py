"""What a scorer learns from: which model answered which query how well.

A file of logs has a line of JSON for each answer that was graded:

    {"query": "What is 17 * 23?", "model": "small-7b", "score": 1.0}

`score` is in [0, 1]; 0 and 1 where an answer is wrong or right. Other keys are ignored. Not every model needs to have
answered every query: what is missing is left out of every loss. Where one model answered a query several
times, the mean counts.

Covered: lines that cannot be read are refused by their number. Not covered: grading answers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cuda_gym.errors import RosterError

__all__ = ["Examples", "Split", "read_logs"]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Graded answers as a table."""

    queries: tuple[str, ...]
    names: tuple[str, ...]
    """Of the models, a column each."""
    labels: Numbers
    """In [0, 1]; NaN where a model did not answer a query."""

    def __post_init__(self) -> None:
        form = (len(self.queries), len(self.names))
        if self.labels.shape != form:
            raise RosterError(
                f"Labels of shape {self.labels.shape} do not fit (queries, models) = {form}: give a row "
                "for each query, with a column for each model."
            )
        if len(set(self.names)) != len(self.names):
            raise RosterError(
                f"Two models have one name: {sorted(self.names)}. Rename one of them."
            )
        known = self.labels[~np.isnan(self.labels)]
        if known.size and not (known.min() >= 0 and known.max() <= 1):
            raise RosterError(
                f"Labels lie in [0, 1]; got {known.min()} to {known.max()}. Scale them first."
            )

    def parted(self, share: float = 0.8, *, seed: int = 0) -> tuple[Examples, Examples]:
        """By lot into two: so many of the queries to learn from, and the others to see what was learnt.

        Raises:
            RosterError: one of the two would be empty.
        """
        rows = np.random.default_rng(seed).permutation(len(self.queries))
        cut = round(share * len(rows)) if 0 < share < 1 else 0
        if not 0 < cut < len(rows):
            raise RosterError(
                f"{len(rows):,} queries cannot be parted by a share of {share:g}, since one part would be empty: "
                "grade answers to more, or give a share between 0 and 1."
            )
        first, second = (
            Examples(
                queries=tuple(self.queries[row] for row in part),
                names=self.names,
                labels=self.labels[part],
            )
            for part in (rows[:cut], rows[cut:])
        )
        return first, second


def read_logs(path: Path) -> Examples:
    """Read a file of graded answers, in the format that this module describes.

    Raises:
        RosterError: the file cannot be read, or has no line; or one cannot, with its number.
    """
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    query, model, score = _read_line(line, f"{path}:{number}")
                    scores[query, model].append(score)
    except (OSError, UnicodeDecodeError) as error:
        raise RosterError(
            f"The graded answers in {path} cannot be read ({error}): give the path of a file of JSON lines in UTF-8."
        ) from error
    if not scores:
        raise RosterError(f"{path} has no line: log at least one graded answer.")
    queries = {query: at for at, query in enumerate(dict.fromkeys(query for query, _ in scores))}
    names = {model: at for at, model in enumerate(dict.fromkeys(model for _, model in scores))}
    labels = np.full((len(queries), len(names)), np.nan)
    for (query, model), given in scores.items():
        labels[queries[query], names[model]] = sum(given) / len(given)
    return Examples(queries=tuple(queries), names=tuple(names), labels=labels)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Rows to learn from, to stop by, and to calibrate on: eight, one and one of ten."""

    train: npt.NDArray[np.intp]
    held_out: npt.NDArray[np.intp]
    calibration: npt.NDArray[np.intp]

    @classmethod
    def of(cls, num_rows: int, *, seed: int) -> Split:
        """By lot; of fewer than ten rows none can be spared, and all serve for all."""
        rows = np.random.default_rng(seed).permutation(num_rows)
        tenth = num_rows // 10
        if tenth == 0:
            return cls(train=rows, held_out=rows, calibration=rows)
        return cls(
            train=rows[2 * tenth :], held_out=rows[:tenth], calibration=rows[tenth : 2 * tenth]
        )


def _read_line(line: str, place: str) -> tuple[str, str, float]:
    try:
        entry = json.loads(line)
        query, model, score = entry["query"], entry["model"], entry["score"]
    except (ValueError, KeyError, TypeError) as error:
        raise RosterError(
            f'{place} is no graded answer ({error}): write {{"query": ..., "model": ..., "score": ...}}.'
        ) from error
    if not isinstance(query, str) or not isinstance(model, str):
        raise RosterError(f"{place}: query and model are strings; got {query!r} and {model!r}.")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise RosterError(f"{place}: a score is a number in [0, 1]; got {score!r}.")
    return query, model, float(score)
