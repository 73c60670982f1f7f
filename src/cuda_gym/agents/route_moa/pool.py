"""What is known of the models of a scorer beside how they are rated.

A model's probability leans on the pool's mean as long as it has few labels:

    right(m) = (n c(m) + w pool) / (n + w)

with c(m) the calibrated probability, n the number of its labels, w = 5, and pool the mean of c over the models, weighted by
n / (n + w). A model without any label gets the pool's mean.

How much evidence stands behind it (`Belief.weight`) is the number of labels that the model has in the query's
cluster of training queries, less the less the query is like that cluster; 0 for a model without labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.bert import Vectors
from cuda_gym.agents.route_moa.calibration import Platt
from cuda_gym.agents.route_moa.clusters import Clusters

__all__ = ["Pool"]

Numbers = npt.NDArray[np.float64]

_LEAN = 5.0  # labels that the pool's mean counts for


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Names, labels, calibration, and where the labels lie."""

    names: tuple[str, ...]
    """In the order of the columns; models that came after the training stand last."""
    labels: tuple[int, ...]
    """How many each had in training."""
    platt: Platt
    clusters: Clusters
    counts: Numbers
    """Labels of each cluster (row) and model."""

    def right(self, logits: Numbers) -> Numbers:
        """Probabilities from the logits of the models that were there in training."""
        labels = np.asarray(self.labels, np.float64)
        share = labels / (labels + _LEAN)
        calibrated = self._widened(self.platt.probabilities(logits))
        pool = (calibrated @ share / share.sum())[:, None]
        return np.asarray(share * calibrated + (1 - share) * pool, np.float64)

    def weights(self, vectors: Vectors) -> Numbers:
        """Evidence from the neighbourhood of each query."""
        near = self.counts[self.clusters.of(vectors)] * self.clusters.familiarity(vectors)[:, None]
        return self._widened(near)

    def with_models(self, names: Sequence[str]) -> Pool:
        """The pool and models without any label."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self.names)
        return replace(self, names=self.names + new, labels=self.labels + (0,) * len(new))

    def _widened(self, columns: Numbers) -> Numbers:
        return np.pad(columns, ((0, 0), (0, len(self.names) - columns.shape[1])))
