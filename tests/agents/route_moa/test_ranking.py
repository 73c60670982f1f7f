import math
from collections.abc import Mapping

import pytest

from cuda_gym.agents.route_moa.answers import Belief
from cuda_gym.agents.route_moa.ranking import (
    DEFAULT_EXPECTED,
    Budget,
    Expected,
    Preferences,
    Ranked,
    choose_layer,
    pareto_front,
    rank,
)
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.models.model import Prices

ONLY_RIGHT = Preferences()


def entry(
    name: str, usd: float, tokens_per_s: float, *, max_parallel: int | None = None
) -> RosterEntry:
    return RosterEntry(
        name=name,
        prices=Prices(input_usd_per_million=usd, output_usd_per_million=usd),
        speed=Speed(first_token_s=0.5, tokens_per_s=tokens_per_s),
        context_tokens=8192,
        max_parallel=max_parallel,
    )


ROSTER = Roster((entry("dear", 10.0, 50.0), entry("fair", 1.0, 100.0), entry("cheap", 0.1, 200.0)))
BELIEFS = {
    "dear": Belief(mean=0.8, weight=50.0),
    "fair": Belief(mean=0.7, weight=50.0),
    "cheap": Belief(mean=0.5, weight=50.0),
}
EXPECTED = {name: Expected(prompt_tokens=500, completion_tokens=500) for name in ROSTER.names}


def order(
    preferences: Preferences = ONLY_RIGHT,
    budget: Budget | None = None,
    beliefs: Mapping[str, Belief] = BELIEFS,
) -> list[str]:
    ranked = rank(beliefs, ROSTER, EXPECTED, preferences=preferences, budget=budget)
    return [one.model for one in ranked]


def place(
    model: str, right: float, usd: float = 0.0, seconds: float = 0.0, bonus: float = 0.0
) -> Ranked:
    return Ranked(
        model=model, utility=right, right=right, cost_usd=usd, latency_s=seconds, bonus=bonus
    )


def chosen(
    *places: Ranked, width: int = 3, preferences: Preferences = ONLY_RIGHT, at_least: int = 1
) -> list[str]:
    return [one.model for one in choose_layer(places, width, preferences, at_least=at_least)]


def test_a_utility_is_being_right_less_dollars_and_seconds_at_their_prices() -> None:
    (first, *_) = rank(BELIEFS, ROSTER, EXPECTED, preferences=Preferences(usd=15.0, seconds=0.004))
    assert first.model == "fair"
    assert first.cost_usd == pytest.approx(0.001)
    assert first.latency_s == pytest.approx(5.5)
    assert first.utility == pytest.approx(0.7 - 15.0 * 0.001 - 0.004 * 5.5)


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        (Preferences(), ["dear", "fair", "cheap"]),
        (Preferences(usd=15.0), ["fair", "dear", "cheap"]),
        (Preferences(usd=300.0), ["cheap", "fair", "dear"]),
        (Preferences(seconds=0.025), ["fair", "dear", "cheap"]),
        (Preferences(seconds=0.2), ["cheap", "fair", "dear"]),
    ],
)
def test_dollars_and_seconds_weigh_as_much_as_somebody_says(
    preferences: Preferences, expected: list[str]
) -> None:
    assert order(preferences) == expected


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Budget(), ["dear", "fair", "cheap"]),
        (Budget(usd=0.005), ["fair", "cheap"]),
        (Budget(seconds=5.0), ["cheap"]),
        (Budget(usd=0.0), []),
        (Budget(usd=-1.0), []),
    ],
)
def test_within_a_budget_only_being_right_counts(budget: Budget, expected: list[str]) -> None:
    assert order(budget=budget) == expected


def test_of_equals_the_cheaper_comes_first_and_then_the_name() -> None:
    roster = Roster((entry("b", 1.0, 50.0), entry("a", 1.0, 50.0), entry("z", 0.5, 50.0)))
    alike = {name: Belief(mean=0.5, weight=1.0) for name in roster.names}
    ranked = rank(alike, roster, {}, preferences=ONLY_RIGHT)
    assert [one.model for one in ranked] == ["z", "a", "b"]


def test_a_model_that_was_never_called_is_tried_and_then_judged_by_what_it_does() -> None:
    curious = Preferences(exploration=0.5)
    new = {**BELIEFS, "cheap": Belief(mean=0.6, weight=0.0)}
    assert order(curious, beliefs=new)[0] == "cheap"
    assert order(ONLY_RIGHT, beliefs=new)[0] == "dear"
    known = {**BELIEFS, "cheap": Belief(mean=0.6, weight=30.0)}
    assert order(curious, beliefs=known)[0] == "dear"


def test_the_bonus_shrinks_with_every_answer() -> None:
    bonuses = [
        rank({"m": Belief(mean=0.5, weight=weight)}, Roster((entry("m", 1.0, 50.0),)), {},
             preferences=Preferences(exploration=1.0))[0].bonus
        for weight in (0.0, 1.0, 10.0, 1000.0)
    ]  # fmt: skip
    assert bonuses == sorted(bonuses, reverse=True)
    assert bonuses[0] == 0.5
    assert bonuses[-1] < 0.02


def test_a_model_without_expected_tokens_is_taken_to_be_like_the_others() -> None:
    some = {"dear": Expected(prompt_tokens=100, completion_tokens=1000)}
    costs = {one.model: one for one in rank(BELIEFS, ROSTER, some, preferences=ONLY_RIGHT)}
    assert costs["fair"].cost_usd == pytest.approx(1100 * 1.0 / 1e6)
    costs = {one.model: one for one in rank(BELIEFS, ROSTER, {}, preferences=ONLY_RIGHT)}
    assert costs["fair"].latency_s == 0.5 + DEFAULT_EXPECTED.completion_tokens / 100.0


def test_a_model_without_a_belief_is_like_the_others_and_never_seen() -> None:
    known = {"dear": BELIEFS["dear"], "cheap": BELIEFS["cheap"], "gone": Belief(mean=1, weight=1)}
    ranked = rank(known, ROSTER, EXPECTED, preferences=Preferences(exploration=0.1))
    places = {one.model: one for one in ranked}
    assert sorted(places) == ["cheap", "dear", "fair"]
    assert places["fair"].right == pytest.approx(0.65)
    assert places["fair"].bonus > places["dear"].bonus


@pytest.mark.parametrize("mean", [math.nan, -0.1, 1.1])
def test_a_belief_that_cannot_be_is_refused(mean: float) -> None:
    with pytest.raises(ValueError, match="'dear'"):
        order(beliefs={**BELIEFS, "dear": Belief(mean=mean, weight=1.0)})


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_preferences_that_cannot_be_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="usd"):
        Preferences(usd=value)


def test_where_only_being_right_counts_a_layer_is_the_first_of_the_order() -> None:
    places = [place("a", 0.9), place("b", 0.8), place("c", 0.7), place("d", 0.6)]
    assert chosen(*places) == ["a", "b", "c"]


def test_a_model_joins_only_if_it_adds_more_than_it_costs() -> None:
    places = [place("a", 0.9, usd=0.01), place("b", 0.8, usd=0.01), place("c", 0.2, usd=0.001)]
    assert chosen(*places, preferences=Preferences(usd=9.0)) == ["a", "c"]
    assert chosen(*places, preferences=Preferences(usd=90.0)) == ["c"]


def test_as_many_join_as_are_asked_for_at_least() -> None:
    places = [place("a", 0.9, usd=0.01), place("b", 0.8, usd=0.01)]
    assert chosen(*places, preferences=Preferences(usd=90.0), at_least=2) == ["a", "b"]


def test_two_cheap_models_go_before_a_dear_one_that_pays_more_than_either_alone() -> None:
    places = [place("dear", 0.9, usd=0.35), place("a", 0.6, usd=0.1), place("b", 0.6, usd=0.1)]
    assert chosen(*places, preferences=Preferences(usd=1.0)) == ["a", "b"]


def test_beside_a_slow_model_another_slow_one_costs_no_time() -> None:
    slow = [place("a", 0.9, seconds=10.0), place("b", 0.5, seconds=10.0)]
    assert chosen(*slow, preferences=Preferences(seconds=0.02)) == ["a", "b"]
    late = [place("a", 0.9, seconds=1.0), place("b", 0.5, seconds=10.0)]
    assert chosen(*late, preferences=Preferences(seconds=0.02)) == ["a"]


def test_a_queue_at_an_endpoint_costs_time() -> None:
    places = [place("a", 0.9, seconds=4.0), place("b", 0.6, seconds=4.0)]
    dear_s = Preferences(seconds=0.05)
    entries = [entry(name, 1.0, 100.0) for name in ("a", "b")]
    apart = Roster(tuple(entries))
    queued = Roster(
        tuple(
            RosterEntry(**{**vars(one), "base_url": "http://127.0.0.1:1", "max_parallel": 1})
            for one in entries
        )
    )
    assert len(choose_layer(places, 3, dear_s, roster=apart)) == 2
    assert len(choose_layer(places, 3, dear_s, roster=queued)) == 1


def test_a_layer_as_a_whole_stays_within_the_budget() -> None:
    places = [place("a", 0.9, usd=0.6), place("b", 0.8, usd=0.6), place("c", 0.1, usd=0.3)]
    layer = choose_layer(places, 3, ONLY_RIGHT, budget=Budget(usd=1.0))
    assert [one.model for one in layer] == ["a", "c"]
    assert choose_layer(places, 3, ONLY_RIGHT, budget=Budget(usd=0.1)) == ()


def test_a_layer_is_found_where_all_that_are_better_are_over_the_budget() -> None:
    dear = [place(f"dear-{i}", 0.9 - i / 100, usd=0.9 - i / 100) for i in range(20)]
    places = [*dear, place("cheap", 0.1, usd=0.05)]
    layer = choose_layer(places, 3, ONLY_RIGHT, budget=Budget(usd=0.1))
    assert [one.model for one in layer] == ["cheap"]


def test_nobody_is_called_who_does_not_pay_unless_somebody_must_be() -> None:
    places = [place("a", 0.5, usd=1.0)]
    assert chosen(*places, preferences=Preferences(usd=1.0), at_least=0) == []
    assert chosen(*places, preferences=Preferences(usd=1.0)) == ["a"]
    assert chosen(*places, width=0) == []


def test_a_model_that_is_hardly_known_joins_for_what_is_learned() -> None:
    known = [place("a", 0.9), place("b", 0.8), place("c", 0.7)]
    assert chosen(*known, place("new", 0.1, bonus=0.3)) == ["a", "b", "new"]


def test_nobody_is_on_the_front_whom_another_beats_in_all() -> None:
    best = place("best", 0.9, usd=5.0, seconds=5.0)
    quick = place("quick", 0.5, usd=5.0, seconds=1.0)
    cheap = place("cheap", 0.4, usd=1.0, seconds=9.0)
    beaten = place("beaten", 0.5, usd=5.0, seconds=2.0)
    assert pareto_front([best, beaten, quick, cheap]) == (best, quick, cheap)


def test_of_two_alike_both_are_on_the_front() -> None:
    twins = (place("a", 0.5, usd=1.0), place("b", 0.5, usd=1.0))
    assert pareto_front(twins) == twins


def test_a_model_that_is_hardly_known_is_tried_alone_though_another_beats_it_otherwise() -> None:
    known, unknown = place("known", 0.6, usd=0.1), place("unknown", 0.6, usd=0.2, bonus=0.2)
    assert chosen(unknown, known, width=1) == ["unknown"]
    assert pareto_front([unknown, known]) == (unknown, known)
