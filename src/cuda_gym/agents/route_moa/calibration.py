"""Whether probabilities mean what they say, and how to make them.

Platt's method: a model's logit is stretched and moved, by two numbers fitted on queries that the scorer was not
trained on. A model with few labels stays near what it was: both numbers are pulled to 1 and 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Platt", "calibration_error", "fit_platt", "hit_at", "logit", "sigmoid"]

Numbers = npt.NDArray[np.float64]

_PULL = 4.0  # in labels: as much as so many of them say


@dataclass(frozen=True, kw_only=True)
class Platt:
    """For each model, what its logits are stretched by and moved by."""

    slopes: tuple[float, ...]
    """Above 0: an order of queries stays as it was."""
    offsets: tuple[float, ...]

    @classmethod
    def none(cls, num_models: int) -> Platt:
        """Changes nothing.

        >>> Platt.none(2)
        Platt(slopes=(1.0, 1.0), offsets=(0.0, 0.0))
        """
        return cls(slopes=(1.0,) * num_models, offsets=(0.0,) * num_models)

    def probabilities(self, logits: npt.ArrayLike) -> Numbers:
        """Of a matrix of logits, a column for each model; never 0 or 1."""
        stretched = np.asarray(logits, np.float64) * self.slopes + self.offsets
        return np.asarray(np.clip(sigmoid(stretched), 1e-4, 1 - 1e-4), np.float64)


def fit_platt(logits: npt.ArrayLike, labels: npt.ArrayLike) -> Platt:
    """From held-out queries; a label that is not there (NaN) is left out.

    Args:
        logits: A row for each query, a column for each model.
        labels: Likewise, in [0, 1].
    """
    pairs = [
        _fit_one(one, other)
        for one, other in zip(np.asarray(logits, float).T, np.asarray(labels, float).T, strict=True)
    ]
    return Platt(slopes=tuple(a for a, _ in pairs), offsets=tuple(b for _, b in pairs))


def calibration_error(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, *, num_bins: int = 15
) -> float:
    """How far probabilities are from shares, on average: expected calibration error.

    Bins of equal size, since scores crowd: with bins of equal width most would be nearly empty.

    >>> calibration_error([0.5, 0.5, 0.5, 0.5], [1, 0, 1, 0], num_bins=1)
    0.0
    """
    said, true = np.ravel(np.asarray(probabilities, float)), np.ravel(np.asarray(labels, float))
    there = ~np.isnan(true)
    said, true = said[there], true[there]
    if not said.size:
        return float("nan")
    bins = np.array_split(np.argsort(said, kind="stable"), min(num_bins, said.size))
    gaps = sum(
        len(places) * abs(float(said[places].mean() - true[places].mean())) for places in bins
    )
    return float(gaps / said.size)


def hit_at(k: int, scores: npt.ArrayLike, labels: npt.ArrayLike, *, right: float = 0.5) -> float:
    """Share of the queries that some model answers right, where one of the best-rated k does.

    Args:
        k: How many would be called.
        scores: A row for each query, a column for each model.
        labels: Likewise. A model whose label is not there (NaN) is passed over: unknown is not wrong, and
            gaps that lie in one kind of query would else punish whoever rates that model well there.
        right: Above this a label is.

    >>> hit_at(1, [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]], [[1, 0], [0, 1], [0, 0]])
    0.5
    """
    known = np.asarray(labels, float)
    is_right: npt.NDArray[np.bool_] = np.nan_to_num(known, nan=0.0) > right
    rated = np.where(np.isnan(known), -np.inf, np.asarray(scores, float))
    best = np.argsort(-rated, axis=1, kind="stable")[:, :k]
    hits = np.take_along_axis(is_right, best, axis=1).sum(1) > 0
    solvable = is_right.sum(1) > 0
    return float(hits[solvable].mean()) if solvable.sum() else float("nan")


def sigmoid(logits: Numbers) -> Numbers:
    """Without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)), np.float64)


def logit(probabilities: npt.ArrayLike | Sequence[float]) -> Numbers:
    """Of probabilities that may be 0 or 1: these count as a thousandth off."""
    p = np.clip(np.asarray(probabilities, np.float64), 1e-3, 1 - 1e-3)
    return np.asarray(np.log(p / (1.0 - p)), np.float64)


def _fit_one(logits: Numbers, labels: Numbers) -> tuple[float, float]:
    there = ~np.isnan(labels)
    x, y = logits[there], labels[there]
    if not x.size:
        return 1.0, 0.0
    design = np.stack([x, np.ones_like(x)], 1)
    start = np.array([1.0, 0.0])
    found = start.copy()
    for _ in range(50):
        p = sigmoid(design @ found)
        slope = design.T @ (p - y) + _PULL * (found - start)
        curve = (design * (p * (1 - p))[:, None]).T @ design + _PULL * np.eye(2)
        step = np.linalg.solve(curve, slope)
        found -= np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return max(float(found[0]), 0.05), float(found[1])
