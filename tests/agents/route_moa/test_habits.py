"""What judges usually say, and how a score stands against it."""

from __future__ import annotations

import pytest

from cuda_gym.agents.route_moa.habits import Habit, log_odds, standing

USUAL = Habit(mean=1.0, squares=100.0, count=100)


def test_a_habit_is_the_mean_and_spread_of_what_was_said() -> None:
    habit = Habit()
    for score in (0.2, 0.5, 0.8):
        habit = habit.with_score(score)
    assert habit.mean == pytest.approx(0.0)
    assert habit.spread == pytest.approx((2 / 3) ** 0.5 * log_odds(0.8))


def test_a_judge_nobody_knows_is_read_as_all_are() -> None:
    for name in (None, "unknown"):
        assert standing(0.9, name, {}, USUAL) == pytest.approx(log_odds(0.9) - 1.0)


def test_what_a_judge_always_says_stands_nearly_nowhere() -> None:
    habit = Habit()
    for _ in range(200):
        habit = habit.with_score(0.95)
    habits = {"generous": habit}
    assert abs(standing(0.95, "generous", habits, USUAL)) < 0.3
    assert standing(0.5, "generous", habits, USUAL) < -3


def test_a_few_scores_do_not_make_a_habit() -> None:
    habits = {"new": Habit().with_score(0.95)}
    known = standing(0.95, "new", habits, USUAL)
    assert known == pytest.approx(standing(0.95, None, {}, USUAL), abs=0.3)
