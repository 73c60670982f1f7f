"""A regression that needs no data to have an answer."""

from __future__ import annotations

import numpy as np
import pytest

from cuda_gym.agents.route_moa.logistic import Cases, regress, regress_proven


def test_a_weight_is_the_log_odds_that_the_data_show() -> None:
    rows, targets = [[1.0]] * 400, [1.0] * 300 + [0.0] * 100
    (weight,) = regress(Cases.of(rows, targets, offsets=[0.0] * 400, start=[0.0]), l2=0.01)
    assert weight == pytest.approx(1.0986, abs=1e-3)


def test_an_offset_is_taken_as_known() -> None:
    rows, targets = [[1.0]] * 400, [1.0] * 300 + [0.0] * 100
    (weight,) = regress(Cases.of(rows, targets, offsets=[1.0986] * 400, start=[0.0]), l2=0.01)
    assert weight == pytest.approx(0.0, abs=1e-3)


def test_few_data_stay_near_the_start() -> None:
    (weight,) = regress(Cases.of([[1.0]], [0.0], offsets=[0.0], start=[2.0]), l2=10.0)
    assert 1.8 < weight < 2.0


def test_data_that_part_perfectly_leave_the_weight_finite() -> None:
    rows = [[float(x)] for x in range(-50, 51) if x]
    targets = [float(row[0] > 0) for row in rows]
    (weight,) = regress(Cases.of(rows, targets, offsets=[0.0] * 100, start=[0.0]), l2=1.0)
    assert 0 < weight < 10


def test_a_weight_that_may_not_be_below_zero_is_zero_and_the_others_are_fitted_without_it() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(500, 2))
    targets = (random.random(500) < 1 / (1 + np.exp(-rows[:, 0] + rows[:, 1]))).astype(float)
    cases = Cases.of(rows.tolist(), targets.tolist(), offsets=[0.0] * 500, start=[0.0, 0.0])
    both = regress(cases, l2=1.0)
    found = regress(cases, l2=1.0, not_below_zero={0, 1})
    assert both[1] < 0
    assert found[1] == 0.0
    assert found[0] == pytest.approx(regress(cases.without({1}), l2=1.0)[0])


def test_what_does_not_have_to_prove_itself_keeps_its_weight() -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(300, 2))
    targets = (random.random(300) < 0.5).astype(float)
    cases = Cases.of(rows.tolist(), targets.tolist(), offsets=[0.0] * 300, start=[0.0, 0.0])
    found = regress_proven(cases, l2=1.0, not_below_zero=(), to_prove={1})
    assert found[0] != 0.0
    assert found[1] == 0.0
