"""A regression that needs no data to have an answer."""

from __future__ import annotations

import pytest

from cuda_gym.agents.route_moa.logistic import regress


def test_a_weight_is_the_log_odds_that_the_data_show() -> None:
    rows, targets = [[1.0]] * 400, [1.0] * 300 + [0.0] * 100
    (weight,) = regress(rows, targets, offsets=[0.0] * 400, start=[0.0], l2=0.01)
    assert weight == pytest.approx(1.0986, abs=1e-3)


def test_an_offset_is_taken_as_known() -> None:
    rows, targets = [[1.0]] * 400, [1.0] * 300 + [0.0] * 100
    (weight,) = regress(rows, targets, offsets=[1.0986] * 400, start=[0.0], l2=0.01)
    assert weight == pytest.approx(0.0, abs=1e-3)


def test_few_data_stay_near_the_start() -> None:
    (weight,) = regress([[1.0]], [0.0], offsets=[0.0], start=[2.0], l2=10.0)
    assert 1.8 < weight < 2.0


def test_data_that_part_perfectly_leave_the_weight_finite() -> None:
    rows = [[float(x)] for x in range(-50, 51) if x]
    targets = [float(row[0] > 0) for row in rows]
    (weight,) = regress(rows, targets, offsets=[0.0] * 100, start=[0.0], l2=1.0)
    assert 0 < weight < 10
