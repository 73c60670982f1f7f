import numpy as np
import pytest

from cuda_gym.agents.route_moa.ridge import best_penalty, fit_ridge

DRAW = np.random.default_rng(0)
VECTORS = DRAW.normal(size=(60, 8)).astype(np.float32)
LABELS = DRAW.random((60, 3))


def test_each_model_has_the_least_squares_of_its_own_labels() -> None:
    labels = LABELS.copy()
    labels[:20, 1] = np.nan
    labels[50:, 2] = np.nan
    intercepts = np.array([0.5, 0.4, 0.3])
    found = fit_ridge(VECTORS, labels, intercepts=intercepts, penalty=2.0)
    for model in range(3):
        rows = ~np.isnan(labels[:, model])
        known, target = VECTORS[rows], labels[rows, model] - intercepts[model]
        exact = np.linalg.solve(known.T @ known + 2.0 * np.eye(8), known.T @ target)
        assert found[:, model] == pytest.approx(exact, abs=1e-4)


def test_noise_is_penalised_more_than_a_rule() -> None:
    weights = np.ones((8, 1))
    rule = VECTORS @ weights
    noise = DRAW.normal(size=(60, 1))

    def chosen(labels: np.ndarray) -> float:
        return best_penalty(
            VECTORS[:40],
            labels[:40],
            (VECTORS[40:], labels[40:]),
            intercepts=np.zeros(1),
        )

    assert chosen(rule) == 0.3
    assert chosen(noise) > 0.3
