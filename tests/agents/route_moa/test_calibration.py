import math

import numpy as np
import pytest

from cuda_gym.agents.route_moa.calibration import (
    Platt,
    calibration_error,
    fit_platt,
    hit_at,
    logit,
    sigmoid,
)

DRAW = np.random.default_rng(0)


def test_overconfident_logits_are_calibrated() -> None:
    true = DRAW.normal(size=(4000, 2))
    labels = (DRAW.random(true.shape) < sigmoid(true)).astype(float)
    loud = 3.0 * true + 1.0
    before = calibration_error(sigmoid(loud), labels)
    after = calibration_error(fit_platt(loud, labels).probabilities(loud), labels)
    assert before > 0.1
    assert after < 0.03


def test_calibration_leaves_out_labels_that_are_not_there() -> None:
    logits = DRAW.normal(size=(200, 1))
    labels = (DRAW.random(logits.shape) < 0.7).astype(float)
    gaps = np.concatenate([labels, np.full((100, 1), np.nan)])
    more = np.concatenate([logits, np.full((100, 1), -9.0)])
    assert fit_platt(more, gaps) == fit_platt(logits, labels)


def test_a_model_without_labels_keeps_its_logits() -> None:
    assert fit_platt([[3.0], [-1.0]], [[math.nan], [math.nan]]) == Platt.none(1)


def test_one_label_hardly_moves_a_model() -> None:
    (slope,), (offset,) = (lambda p: (p.slopes, p.offsets))(fit_platt([[0.0]], [[1.0]]))
    assert slope == pytest.approx(1.0)
    assert 0 < offset < 0.2


def test_calibration_keeps_the_order_of_queries() -> None:
    logits = np.linspace(-2, 2, 50)[:, None]
    upside_down = (logits < 0).astype(float)
    p = fit_platt(logits, upside_down).probabilities(logits)[:, 0]
    assert (np.diff(p) > 0).all()


def test_probabilities_are_never_certain() -> None:
    p = Platt.none(1).probabilities([[1e6], [-1e6]])
    assert 0 < p.min() < p.max() < 1


def test_the_calibration_error_of_a_constant_is_its_distance_from_the_share() -> None:
    labels = np.array([1.0, 0.0, 0.0, 0.0, math.nan])
    assert calibration_error(np.full(5, 0.75), labels, num_bins=1) == pytest.approx(0.5)


def test_the_calibration_error_of_nothing_is_no_number() -> None:
    assert math.isnan(calibration_error([0.5], [math.nan]))


def test_hits_count_among_the_best_rated_of_queries_that_can_be_solved() -> None:
    scores = [[0.9, 0.5, 0.1]] * 4
    labels = [[1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1], [0.0, 0, math.nan]]
    assert [hit_at(k, scores, labels) for k in (1, 2, 3)] == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_a_model_whose_grade_is_not_known_takes_no_place_among_the_best() -> None:
    assert hit_at(1, [[0.9, 0.5]], [[math.nan, 1.0]]) == 1.0


def test_logits_and_probabilities_are_each_others_inverse() -> None:
    p = np.array([0.01, 0.5, 0.93])
    assert sigmoid(logit(p)) == pytest.approx(p)
    assert sigmoid(np.array([-1e9, 1e9])) == pytest.approx([0.0, 1.0])
