from __future__ import annotations

import random

import pytest

from cuda_gym.judge.sandbox.draw_plan import (
    PlannedDraw,
    called,
    plan_draws,
    plan_hidden,
    surely_used,
)

KINDS = ["ordinary", "spiky", "large_offset", "tiny_scale", "smaller_shape"]


def test_equal_seeds_plan_equal_draws_and_others_plan_others() -> None:
    one, two, other = (plan_draws({"draws": KINDS}, random.Random(seed)) for seed in (1, 1, 2))
    assert one == two
    assert not {draw.seed for draw in one} & {draw.seed for draw in other}
    assert not {draw.weights for draw in one} & {draw.weights for draw in other}


def test_every_kind_is_drawn_with_a_seed_of_its_own() -> None:
    plan = plan_draws({"draws": KINDS}, random.Random(1))
    assert {draw.kind for draw in plan} == set(KINDS)
    assert len({draw.seed for draw in plan}) == len(plan)


@pytest.mark.parametrize("num_kinds", range(1, 6))
def test_half_of_the_draws_are_under_other_weights_and_the_first_kind_under_both(
    num_kinds: int,
) -> None:
    plan = plan_draws({"draws": KINDS[:num_kinds]}, random.Random(1))
    weights = [draw.weights for draw in plan]
    assert weights == sorted(weights, key=weights.index)
    first, second = (weights.count(seed) for seed in dict.fromkeys(weights))
    assert first in (second, second - 1)
    assert {draw.weights for draw in plan if draw.kind == "ordinary"} == set(weights)


def test_dropped_calls_are_on_one_spare_content_and_timed_ones_on_the_others() -> None:
    assert called(3, dropped=2) == [0, 0, 1, 2, 3]
    assert called(3, dropped=0) == [0, 1, 2]


def hidden(kinds: list[str], seed: int) -> dict[int, PlannedDraw]:
    return plan_hidden({"draws": kinds}, random.Random(seed), weights=77)


def test_the_shortest_race_hides_draws_of_two_kinds_that_have_the_ordinary_shape() -> None:
    kinds = ["ordinary", "signed", "large offset", "spiky", "smaller shape"]
    plans = [hidden(kinds, seed) for seed in range(50)]
    assert {len({draw.kind for draw in surely_used(plan)}) for plan in plans} == {2}
    assert {number for plan in plans for number in plan if number < 6} == {2, 3, 4, 5}
    drawn = [draw for plan in plans for draw in plan.values()]
    assert {draw.kind for draw in drawn} == {"signed", "large offset", "spiky"}
    assert {draw.weights for draw in drawn} == {77}
    assert len({draw.seed for draw in drawn}) == len(drawn)


@pytest.mark.parametrize(("first", "last"), [(6, 9), (10, 17), (18, 33)])
def test_a_longer_race_hides_one_more_draw_anywhere_behind_those_of_a_shorter_one(
    first: int, last: int
) -> None:
    plans = [hidden(["ordinary", "signed", "spiky"], seed) for seed in range(200)]
    found = [[number for number in plan if first <= number <= last] for plan in plans]
    assert {len(numbers) for numbers in found} == {1}
    assert {number for numbers in found for number in numbers} == set(range(first, last + 1))


def test_what_a_task_cannot_bear_is_not_hidden() -> None:
    assert hidden(["ordinary", "larger shape"], 1) == {}
    assert {draw.kind for draw in hidden(["ordinary", "spiky"], 1).values()} == {"spiky"}
