"""Which knobs a mixture gets: those that do best on training questions that its scorer has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.routing_replay.fitting import Fitted
from benchmarks.routing_replay.loading import Question
from benchmarks.routing_replay.methods import Bench, Knobs, recorded_knobs, simulated_knobs
from benchmarks.routing_replay.names import (
    CHEAP,
    PAPER,
    RECORDED,
    SIMULATED,
    SINGLE,
    STATIC,
    TOP_1,
    TOP_3,
)
from benchmarks.routing_replay.outcomes import Run

__all__ = ["EQUAL", "Chosen", "cheapest", "choose", "most_accurate", "papers_knobs", "scored"]

EQUAL = 1.1
"""Costs count as equal up to this factor, ours and a rival's alike."""

_SMALL_POOL = 10


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """By the name of the method."""

    knobs: Mapping[str, Knobs]
    usd: Mapping[str, float]
    """What a question costs with them in training, for those that a static rival is compared with."""


def choose(bench: Bench, fit: Fitted, *, most_tune: int) -> Chosen:
    """Knobs for every routed method.

    Args:
        bench: Runs methods.
        fit: What was learnt.
        most_tune: Questions on which a set of knobs is tried.
    """
    has_answers = bench.pool.answers_are_recorded
    tune = fit.split.tune[:most_tune]
    widest = len(bench.pool.models) if has_answers else 1
    method, key = bench.baselines(fit)[STATIC if has_answers else SINGLE]
    yardstick = bench.run(method, tune, key)
    one_layer = _tried(bench, fit, recorded_knobs(widest, bench.prices(fit)[:5]), tune)
    found = {
        RECORDED: most_accurate(one_layer, EQUAL * yardstick.cost_usd),
        CHEAP: cheapest(one_layer, yardstick.accuracy - 0.01, yardstick.cost_usd),
    }
    others = {TOP_1: Knobs(width=1)}
    if has_answers:
        others[TOP_3] = Knobs()
        found |= scored(bench, fit, found[RECORDED][0], tune, most_usd=EQUAL * yardstick.cost_usd)
    return Chosen(
        knobs={name: knobs for name, (knobs, _) in found.items()} | others,
        usd={name: run.cost_usd for name, (_, run) in found.items()},
    )


def scored(
    bench: Bench, fit: Fitted, start: Knobs, tune: Sequence[Question], *, most_usd: float
) -> dict[str, tuple[Knobs, Run]]:
    """Knobs of those that use simulated scores, and how these did in training.

    Args:
        bench: Runs methods.
        fit: What was learnt.
        start: Width and price of one layer.
        tune: Questions on which knobs are tried.
        most_usd: What a question may cost with chosen ones.
    """
    layers = _tried(bench, fit, simulated_knobs(start), tune)
    (papers,) = _tried(bench, fit, [papers_knobs(len(bench.pool.models))], tune)
    return {SIMULATED: most_accurate(layers, most_usd), PAPER: papers}


def papers_knobs(num_models: int) -> Knobs:
    """Three proposers and its threshold for pools of that size; it has one for 5 models and one for 15."""
    least = 0.805 if num_models < _SMALL_POOL else 0.76
    return Knobs(max_layers=3, exit_posterior=least, with_scores=True)


def most_accurate(tried: Sequence[tuple[Knobs, Run]], most_usd: float) -> tuple[Knobs, Run]:
    """Of those that cost no more; where none does, the cheapest."""
    within = [one for one in tried if one[1].cost_usd <= most_usd]
    if not within:
        return min(tried, key=lambda one: one[1].cost_usd)
    return max(within, key=lambda one: (one[1].accuracy, -one[1].cost_usd))


def cheapest(
    tried: Sequence[tuple[Knobs, Run]], least_accuracy: float, most_usd: float
) -> tuple[Knobs, Run]:
    """Of those that are right often enough; where none is, the most accurate that costs no more."""
    enough = [
        one for one in tried if one[1].accuracy >= least_accuracy and one[1].cost_usd <= most_usd
    ]
    if not enough:
        return most_accurate(tried, most_usd)
    return min(enough, key=lambda one: one[1].cost_usd)


def _tried(
    bench: Bench, fit: Fitted, candidates: Sequence[Knobs], tune: Sequence[Question]
) -> list[tuple[Knobs, Run]]:
    return [
        (knobs, bench.run(bench.mixture(fit, knobs, in_training=True), tune))
        for knobs in candidates
    ]
