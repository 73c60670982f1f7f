"""What is told of a method: means, and how sure its difference from another is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "paired_difference"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of two methods on the same questions."""

    mean: float
    low: float
    """Of the interval that holds 95 % of the resampled differences."""
    high: float

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval lies below zero."""
        return self.high < 0

    @property
    def is_gain(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.low > 0


def paired_difference(
    ours: Sequence[Sequence[float]],
    theirs: Sequence[Sequence[float]],
    questions: Sequence[Sequence[str]],
    *,
    num_resamples: int = 2_000,
    seed: int = 0,
) -> Difference:
    """Mean of ours less theirs, with a paired bootstrap over questions.

    A question that is tested under several seeds is one question: it is drawn with all of its
    tests, because these are not independent.

    Args:
        ours: Scores, by seed and question.
        theirs: Of the same questions.
        questions: Which ones, by seed.
        num_resamples: How often questions are drawn anew.
        seed: Of the draws.
    """
    index: dict[str, int] = {}
    for ids in questions:
        for question in ids:
            index.setdefault(question, len(index))
    sums, counts = np.zeros(len(index)), np.zeros(len(index))
    for mine, other, ids in zip(ours, theirs, questions, strict=True):
        places = np.array([index[question] for question in ids])
        np.add.at(sums, places, np.asarray(mine) - np.asarray(other))
        np.add.at(counts, places, 1.0)
    random = np.random.default_rng(seed)
    means = np.empty(num_resamples)
    for number in range(num_resamples):
        drawn = random.integers(0, len(index), len(index))
        means[number] = sums[drawn].sum() / counts[drawn].sum()
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(mean=float(sums.sum() / counts.sum()), low=float(low), high=float(high))
