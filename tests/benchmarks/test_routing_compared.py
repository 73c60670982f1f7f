"""Routed and static choices are compared at equal cost, and what is told of them says what it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.routing_replay.bounds import bounds
from benchmarks.routing_replay.choosing import EQUAL, cheapest, most_accurate
from benchmarks.routing_replay.encodings import KeptEncoder
from benchmarks.routing_replay.fitting import best_static
from benchmarks.routing_replay.methods import Knobs
from benchmarks.routing_replay.names import (
    CHEAP,
    COMPARED,
    MOA_1,
    MOA_3,
    PAPER,
    RECORDED,
    SIMULATED,
    STATIC,
    WITHIN,
    within,
)
from benchmarks.routing_replay.outcomes import Outcome, Run
from benchmarks.routing_replay.picture import is_hollow
from benchmarks.routing_replay.replay import Extent, measured
from benchmarks.routing_replay.report import page
from benchmarks.routing_replay.simulation import Rules
from benchmarks.routing_replay.statistics import paired_difference
from tests.benchmarks.letters import pool

from cuda_gym.agents.route_moa.encoders import TfidfEncoder

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
TOGETHER = {"first": "AAAB", "second": "ABAA", "third": "BAAA", "fourth": "BBBA"}
"""The first three are right together where each is wrong once."""


def chosen(most_usd: float, costs: Mapping[str, float]) -> tuple[str, ...]:
    found = pool(by_model=TOGETHER)
    return best_static(found, found.questions, tuple(TOGETHER), costs=costs, most_usd=most_usd)


def test_the_static_rival_is_three_where_three_can_be_paid() -> None:
    assert chosen(3.0, dict.fromkeys(TOGETHER, 1.0)) == ("first", "second", "third")


def test_the_static_rival_is_one_model_where_three_cost_more_than_ours() -> None:
    assert chosen(2.9, dict.fromkeys(TOGETHER, 1.0)) == ("first",)


def test_the_static_rival_is_the_cheapest_model_where_ours_is_cheaper_than_any() -> None:
    assert chosen(0.1, {**dict.fromkeys(TOGETHER, 1.0), "fourth": 0.5}) == ("fourth",)


def run(accuracy: float, cost_usd: float) -> Run:
    right = round(100 * accuracy)
    outcomes = tuple(
        Outcome(
            score=float(number < right),
            cost_usd=cost_usd,
            latency_s=1.0,
            num_calls=1,
            models=frozenset(),
            num_layers=1,
            rests_on_simulation=False,
        )
        for number in range(100)
    )
    return Run(questions=tuple(map(str, range(100))), outcomes=outcomes)


def test_the_cheap_route_is_never_dearer_than_what_it_is_cheaper_than() -> None:
    tried = [(Knobs(width=1), run(0.5, 1.0)), (Knobs(width=3), run(0.6, 2.0))]
    tried.append((Knobs(width=5), run(0.8, 9.0)))
    assert cheapest(tried, least_accuracy=0.7, most_usd=3.0)[0].width == 3
    assert cheapest(tried, least_accuracy=0.7, most_usd=10.0)[0].width == 5
    assert most_accurate(tried, 1.5)[0].width == 1


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of every method on a small pool, under one seed."""
    many = pool(repeats=20, by_model=TOGETHER)
    texts = [question.text for question in many.questions]
    encoder = KeptEncoder(TfidfEncoder.fit(texts), texts, tmp_path_factory.mktemp("kept"))
    extent = Extent(seeds=(0,), most_test=12, most_tune=8, most_curve=2, num_resamples=50)
    return measured(many, encoder, extent, Rules(), router_s=0.01)


def test_each_of_ours_meets_a_static_choice_at_its_own_cost(told: dict[str, Any]) -> None:
    names = [method["name"] for method in told["methods"]]
    for mine in COMPARED:
        assert within(mine) in names
        assert f"{mine} | {WITHIN}" in told["differences"]
        (rival,) = told["static_at_its_cost"][mine]
        assert 0 < rival["usd_in_training"] <= EQUAL * rival["our_usd_in_training"]


def test_what_rests_on_simulated_scores_is_drawn_hollow(told: dict[str, Any]) -> None:
    hollow = {method["name"] for method in told["methods"] if is_hollow(method)}
    assert {SIMULATED, PAPER, MOA_1, MOA_3} < hollow
    assert not {RECORDED, CHEAP, STATIC, within(PAPER)} & hollow


def test_one_method_does_not_differ_from_itself() -> None:
    scores = [[1.0, 0.0, 1.0]]
    found = paired_difference(scores, scores, [["a", "b", "c"]])
    assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)


def test_a_question_tested_twice_is_no_second_question() -> None:
    random = np.random.default_rng(0)
    ours, theirs = random.random(50).round().tolist(), random.random(50).round().tolist()
    ids = [str(number) for number in range(50)]
    once = paired_difference([ours], [theirs], [ids])
    thrice = paired_difference([ours] * 3, [theirs] * 3, [ids] * 3)
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low)


def test_seeds_that_disagree_leave_the_difference_open() -> None:
    ids = [str(number) for number in range(100)]
    better, worse = [1.0] * 100, [0.0] * 100
    found = paired_difference([better, worse], [worse, better], [ids, ids])
    assert (found.mean, found.low, found.high) == (0.0, -1.0, 1.0)
    assert (found.questions_low, found.questions_high) == (0.0, 0.0)
    assert found.by_seed == (1.0, -1.0)


def result(**found: Any) -> dict[str, Any]:
    """Of a skewed pool, where the paper's knobs are dear and the others are not."""
    ours = (RECORDED, SIMULATED, PAPER)
    methods = [
        {"name": name, "usd_per_1000": 5.0 if name == PAPER else 1.0, "latency_s": 2.0}
        for name in (*ours, *map(within, ours), STATIC)
    ]
    found |= {f"questions_{end}": found[end] for end in ("low", "high") if end in found} | found
    differences = {f"{mine} | {other}": found for mine in ours for other in (STATIC, WITHIN)}
    pools = {
        "zeroeval_7_cheap": {
            "name": "zeroeval_7_cheap",
            "methods": methods,
            "differences": differences,
            "scorer": {"learned_hit_3": 0.98},
        }
    }
    return {"pools": pools}


def test_a_bound_that_is_missed_is_told() -> None:
    found = bounds(result(mean=-0.03, low=-0.05, high=-0.01))
    held = [bound.holds for bound in found if bound.variant and "latency" not in bound.claim]
    assert held == [False] * 12
    assert [bound.holds for bound in found if not bound.variant] == [True]


def test_a_loss_counts_where_questions_alone_show_it_and_a_gain_only_over_seeds_too() -> None:
    lost = bounds(
        result(mean=-0.02, low=-0.05, high=0.01, questions_low=-0.03, questions_high=-0.01)
    )
    assert {one.holds for one in lost if "no loss" in one.claim} == {False}
    won = bounds(result(mean=0.02, low=-0.01, high=0.05, questions_low=0.01, questions_high=0.03))
    assert {one.holds for one in won if "a gain" in one.claim} == {False}


def test_being_better_for_more_money_than_the_static_three_is_stated_and_does_not_count() -> None:
    found = bounds(result(mean=0.03, low=0.01, high=0.05))
    gains = {(one.variant, "its cost" in one.claim): one for one in found if "gain" in one.claim}
    assert {key for key, one in gains.items() if one.holds is None} == {(PAPER, False)}
    assert "$5.000 for $1.000" in gains[PAPER, False].measured


def test_a_comparison_says_that_it_rests_on_simulation() -> None:
    found = bounds(result(mean=0.03, low=0.01, high=0.05))
    marked = {bound.variant for bound in found if bound.is_simulated}
    assert marked == {SIMULATED, PAPER}


def test_the_page_cannot_differ_from_its_figures() -> None:
    results = json.loads((RESULTS / "routing.json").read_text("utf-8"))
    assert (RESULTS / "routing.md").read_text("utf-8") == page(results)
