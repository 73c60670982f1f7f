"""Logistic regression that starts from what is believed without data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["regress"]


def regress(
    rows: Sequence[Sequence[float]],
    targets: Sequence[float],
    *,
    offsets: Sequence[float],
    start: Sequence[float],
    l2: float,
) -> tuple[float, ...]:
    """Weights that minimise the logistic loss plus l2/2 times the squared distance from the start.

    Args:
        rows: What is known of each case.
        targets: In [0, 1].
        offsets: Added to the log odds of each case as they are.
        start: Weights where there are no data.
        l2: Above 0, so that cases which are all alike leave the weights finite.

    By Newton's method, in steps of at most 1 so that it cannot run away.
    """
    known, wanted, fixed = np.array(rows), np.array(targets), np.array(offsets)
    first = np.array(start)
    weights = first.copy()
    penalty = l2 * np.eye(len(first))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(known @ weights + fixed, -30, 30)))
        gradient = known.T @ (chance - wanted) + penalty @ (weights - first)
        curvature = (known * (chance * (1 - chance))[:, None]).T @ known + penalty
        step = np.linalg.solve(curvature, gradient)
        weights -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return tuple(float(weight) for weight in weights)
