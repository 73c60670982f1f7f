"""Linear regression on vectors, with a penalty: the plainest way to score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.bert import Vectors

__all__ = ["best_penalty", "fit_ridge"]

Numbers = npt.NDArray[np.float64]


def fit_ridge(
    vectors: Vectors, labels: Numbers, *, intercepts: Numbers, penalty: float, num_steps: int = 40
) -> Vectors:
    """Weights that predict labels less their intercepts: a row for each dimension, a column for each model.

    By conjugate gradients for all models at once, so that each may lack other labels (NaN) than the
    next: what is missing weighs nothing, and no matrix is factorised for every pattern of gaps.
    """
    there = (~np.isnan(labels)).astype(np.float32)
    target = np.where(there > 0, labels - intercepts, 0.0).astype(np.float32)
    weights = np.zeros((vectors.shape[1], labels.shape[1]), np.float32)
    residual = vectors.T @ target
    direction = residual.copy()
    size = (residual**2).sum(0)
    for _ in range(num_steps):
        curved = vectors.T @ (there * (vectors @ direction)) + penalty * direction
        step = size / np.maximum((direction * curved).sum(0), 1e-12)
        weights += step * direction
        residual -= step * curved
        before, size = size, (residual**2).sum(0)
        if size.max() < 1e-6:
            break
        direction = residual + (size / np.maximum(before, 1e-12)) * direction
    return weights


def best_penalty(
    vectors: Vectors,
    labels: Numbers,
    held_out: tuple[Vectors, Numbers],
    *,
    intercepts: Numbers,
    penalties: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0),
) -> float:
    """The one whose predictions of held-out labels miss by least."""

    def miss(penalty: float) -> float:
        weights = fit_ridge(vectors, labels, intercepts=intercepts, penalty=penalty)
        gaps = held_out[0] @ weights + intercepts - held_out[1]
        return float(np.nanmean(gaps**2)) if (~np.isnan(gaps)).any() else 0.0

    return min(penalties, key=miss)
