import numpy as np
import pytest

from cuda_gym.agents.route_moa.bert import of_length_one
from cuda_gym.agents.route_moa.clusters import Clusters

DRAW = np.random.default_rng(0)
SIDES = np.repeat(np.eye(3), 20, axis=0)
VECTORS = of_length_one(SIDES + 0.05 * DRAW.normal(size=SIDES.shape))


def test_queries_that_are_alike_share_a_cluster() -> None:
    found = max(
        (Clusters.fit(VECTORS, num_clusters=3, seed=seed) for seed in range(5)),
        key=lambda clusters: len(set(clusters.of(VECTORS))),
    )
    of = found.of(VECTORS)
    assert all(len(set(of[start : start + 20])) == 1 for start in (0, 20, 40))
    assert len(set(of)) == 3


def test_there_are_no_more_clusters_than_queries() -> None:
    assert len(Clusters.fit(VECTORS[:2], num_clusters=9, seed=0).centres) == 2


def test_only_labels_that_are_there_are_counted() -> None:
    clusters = Clusters.fit(VECTORS, num_clusters=3, seed=0)
    labels = np.ones((60, 2))
    labels[:, 1] = np.nan
    assert clusters.counts(VECTORS, labels).sum(0).tolist() == [60.0, 0.0]


def test_what_is_like_nothing_seen_is_unfamiliar() -> None:
    clusters = Clusters.fit(VECTORS, num_clusters=3, seed=0)
    away = -np.ones((1, 3), np.float32) / np.sqrt(3)
    assert clusters.familiarity(away)[0] == 0
    assert clusters.familiarity(VECTORS).mean() == pytest.approx(1.0, abs=0.05)
