"""Groups of queries that are alike, and how many labels of each model lie in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cuda_gym.agents.route_moa.bert import Vectors

__all__ = ["Clusters"]


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Centres, as found by k-means on vectors of length one."""

    centres: Vectors
    """A row for each cluster."""
    usual: Vectors
    """How near to its centre a query of each cluster usually is, as a cosine."""

    @classmethod
    def fit(cls, vectors: Vectors, *, num_clusters: int, seed: int) -> Clusters:
        """By Lloyd's method, from rows drawn at random; a cluster that runs empty keeps its centre."""
        draw = np.random.default_rng(seed)
        num = min(num_clusters, len(vectors))
        centres = vectors[draw.choice(len(vectors), num, replace=False)].copy()
        of = np.argmax(vectors @ centres.T, 1)
        for _ in range(25):
            for cluster in np.unique(of):
                mean = vectors[of == cluster].mean(0)
                centres[cluster] = mean / max(float(np.linalg.norm(mean)), 1e-12)
            before, of = of, np.argmax(vectors @ centres.T, 1)
            if (before == of).all():
                break
        near = (vectors @ centres.T).max(1)
        usual = [
            float(near[of == cluster].mean()) if (of == cluster).any() else 1.0
            for cluster in range(num)
        ]
        return cls(centres=centres, usual=np.asarray(np.maximum(usual, 1e-3), np.float32))

    def of(self, vectors: Vectors) -> npt.NDArray[np.intp]:
        """The nearest cluster of each row."""
        nearest: npt.NDArray[np.intp] = np.argmax(vectors @ self.centres.T, 1)
        return nearest

    def counts(self, vectors: Vectors, labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Labels that are there, for each cluster and model."""
        found = np.zeros((len(self.centres), labels.shape[1]))
        np.add.at(found, self.of(vectors), ~np.isnan(labels))
        return found

    def familiarity(self, vectors: Vectors) -> npt.NDArray[np.float64]:
        """For each row, from 0 (like nothing seen) to 1 (as near to a centre as is usual there)."""
        near = vectors @ self.centres.T
        of = near.argmax(1)
        return np.asarray(np.clip(near.max(1) / self.usual[of], 0.0, 1.0), np.float64)
