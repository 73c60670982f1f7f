"""What is told of a method: means, and how sure its difference from another is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Difference", "paired_difference"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of two methods on the same questions."""

    mean: float
    low: float
    """Of the interval that holds 95 % of the differences, of questions and seeds drawn anew."""
    high: float
    questions_low: float
    """The same where questions alone are drawn, with all seeds as they are: narrower."""
    questions_high: float
    by_seed: tuple[float, ...]
    """The mean under each."""


def paired_difference(
    ours: Sequence[Sequence[float]],
    theirs: Sequence[Sequence[float]],
    questions: Sequence[Sequence[str]],
    *,
    num_resamples: int = 2_000,
    seed: int = 0,
) -> Difference:
    """Mean of ours less theirs, with a paired bootstrap over questions and seeds.

    Both are drawn anew each time. A question that is tested under several seeds is one question, drawn with all of
    its tests, because these are not independent; a seed is one split, one fit and one choice of knobs, which another
    seed might have made otherwise. Drawn across each other like this, intervals are rather too wide than too narrow,
    so a gain is judged by these, and a loss by those over questions alone.

    Args:
        ours: Scores, by seed and question.
        theirs: Of the same questions.
        questions: Which ones, by seed.
        num_resamples: How often both are drawn anew.
        seed: Of the draws.
    """
    index: dict[str, int] = {}
    for ids in questions:
        for question in ids:
            index.setdefault(question, len(index))
    sums, counts = np.zeros((len(questions), len(index))), np.zeros((len(questions), len(index)))
    for number, (mine, other, ids) in enumerate(zip(ours, theirs, questions, strict=True)):
        places = np.array([index[question] for question in ids])
        np.add.at(sums[number], places, np.asarray(mine) - np.asarray(other))
        np.add.at(counts[number], places, 1.0)
    of_seeds, of_questions = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    means, of_all_seeds = np.empty(num_resamples), np.empty(num_resamples)
    for number in range(num_resamples):
        by_seed, by_question = _drawn(of_seeds, len(questions)), _drawn(of_questions, len(index))
        means[number] = (by_seed @ sums @ by_question) / (by_seed @ counts @ by_question)
        of_all_seeds[number] = (sums @ by_question).sum() / (counts @ by_question).sum()
    low, high = np.quantile(means, [0.025, 0.975])
    questions_low, questions_high = np.quantile(of_all_seeds, [0.025, 0.975])
    return Difference(
        mean=float(sums.sum() / counts.sum()),
        low=float(low),
        high=float(high),
        questions_low=float(questions_low),
        questions_high=float(questions_high),
        by_seed=tuple(float(one) for one in sums.sum(axis=1) / counts.sum(axis=1)),
    )


def _drawn(random: np.random.Generator, number: int) -> npt.NDArray[np.float64]:
    """How often each of so many is drawn, in as many draws."""
    draws = random.integers(0, number, number)
    return np.bincount(draws, minlength=number).astype(np.float64)
