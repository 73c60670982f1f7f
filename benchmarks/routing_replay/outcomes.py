"""What a method did with questions, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from benchmarks.routing_replay.loading import Pool, Question
from benchmarks.routing_replay.simulation import answer_in

from cuda_gym.agents.route_moa.answers import Answer

__all__ = ["Outcome", "Run", "Summary", "no_outcome", "outcome_of", "summary"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One answer."""

    score: float
    cost_usd: float
    latency_s: float
    """Modelled: calls side by side count as the slowest."""
    num_calls: int
    models: frozenset[str]
    """Who was asked first."""
    num_layers: int
    rests_on_simulation: bool
    """Whether a model that read other answers had a say in it."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A method on the test questions of one seed."""

    questions: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def scores(self) -> list[float]:
        return [outcome.score for outcome in self.outcomes]

    @property
    def accuracy(self) -> float:
        return float(np.mean(self.scores))

    @property
    def cost_usd(self) -> float:
        """Of a question."""
        return float(np.mean([outcome.cost_usd for outcome in self.outcomes]))


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A method on a pool: means over seeds of means over test questions."""

    name: str
    accuracy: float
    accuracy_spread: float
    """Standard deviation over seeds."""
    usd_per_1000: float
    latency_s: float
    calls: float
    one_layer: float
    """Share of questions that no second layer was asked."""
    off_static: float | None
    """Share of questions whose first models are not the static best three."""
    rests_on_simulation: float
    """Share of questions whose answer models had a say in that read other answers."""
    uses_simulated_scores: bool
    about: str = ""

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def outcome_of(
    answer: Answer, question: Question, pool: Pool, *, layers_read: bool = True
) -> Outcome:
    """Grade an answer.

    Args:
        answer: Of a method.
        question: What it was asked.
        pool: Knows what is right.
        layers_read: Whether a second layer reads the first; that of a cascade does not.
    """
    route = answer.route
    calls = [line for line in route.bill.lines if line.billed_for != "router"]
    first = route.layers[0].proposals if route.layers else ()
    return Outcome(
        score=pool.score(question.id, answer_in(answer.text)),
        cost_usd=route.bill.cost_usd,
        latency_s=route.latency_s,
        num_calls=len(calls),
        models=frozenset(proposal.model for proposal in first),
        num_layers=len(route.layers),
        rests_on_simulation=(layers_read and len(route.layers) > 1) or route.aggregator is not None,
    )


def no_outcome(cost_usd: float) -> Outcome:
    """Where no model gave an answer."""
    return Outcome(
        score=0.0,
        cost_usd=cost_usd,
        latency_s=0.0,
        num_calls=0,
        models=frozenset(),
        num_layers=0,
        rests_on_simulation=False,
    )


def summary(
    name: str,
    runs: Sequence[Run],
    static: Sequence[frozenset[str]] | None,
    *,
    router_s: float = 0.0,
    router_usd: float = 0.0,
    uses_simulated_scores: bool = False,
    about: str = "",
) -> Summary:
    """Put the seeds together.

    Args:
        name: Of the method.
        runs: By seed.
        static: The static best three of each seed; None where the comparison says nothing.
        router_s: Seconds of encoding a query, on top of the route's own.
        router_usd: What they cost.
        uses_simulated_scores: Whether simulated scores had a say in its route.
        about: What is to be known.
    """

    def mean(values: Sequence[Sequence[float]]) -> float:
        return float(np.mean([np.mean(one) for one in values]))

    def of(figure: str) -> float:
        return mean([[float(getattr(one, figure)) for one in run.outcomes] for run in runs])

    off = None
    if static is not None:
        pairs = zip(runs, static, strict=True)
        off = mean([[float(o.models != best) for o in run.outcomes] for run, best in pairs])
    return Summary(
        name=name,
        accuracy=of("score"),
        accuracy_spread=float(np.std([run.accuracy for run in runs])),
        usd_per_1000=1000 * (of("cost_usd") + router_usd),
        latency_s=of("latency_s") + router_s,
        calls=of("num_calls"),
        one_layer=mean([[float(o.num_layers <= 1) for o in run.outcomes] for run in runs]),
        off_static=off,
        rests_on_simulation=of("rests_on_simulation"),
        uses_simulated_scores=uses_simulated_scores,
        about=about,
    )
