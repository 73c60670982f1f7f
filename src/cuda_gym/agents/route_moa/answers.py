"""What a mixture passes on: proposals, beliefs about models, the route that an answer took, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from cuda_gym.agents.route_moa.bill import Bill
from cuda_gym.errors import ModelUnavailable
from cuda_gym.models.model import Completion, Estimated

__all__ = ["Answer", "Belief", "LayerRecord", "NoAnswer", "Proposal", "Route", "Scorer"]

ExitReason = Literal["posterior", "unanimity", "last layer", "budget", "one answer"]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """One model's answer in one layer."""

    model: str
    layer: int
    """From 0."""
    text: str
    """The answer alone: scores never get into what other models read."""
    self_score: float | None
    """In [0, 1]; None where the model gave none that can be read."""
    peer_scores: tuple[float | None, ...]
    """For each proposal of the layer before, in its order; empty in layer 0."""
    completion: Completion


@dataclass(frozen=True, kw_only=True)
class Belief:
    """How likely a model answers the query right, as far as is known."""

    mean: float
    """In (0, 1)."""
    weight: float
    """How much evidence stands behind it, in answers; 0 is a prior that was never seen to hold."""


class Scorer(Protocol):
    """Rates models by a query alone."""

    def score(self, query: str) -> Mapping[str, Belief]:
        """The prior of every model of the roster, calibrated."""
        ...


@dataclass(frozen=True, kw_only=True)
class LayerRecord:
    """What one layer did."""

    chosen: tuple[str, ...]
    """Models, by rank."""
    proposals: tuple[Proposal, ...]
    failed: Mapping[str, str]
    """Models that were called and gave nothing, and why; the next in rank took their places."""
    judge: str | None
    """Whose peer scores of the layer before counted."""
    beliefs: Mapping[str, Belief]
    """Of every model of the roster, after this layer."""
    latency_s: float


@dataclass(frozen=True, kw_only=True)
class Route:
    """How an answer came about."""

    prior: Mapping[str, Belief]
    layers: tuple[LayerRecord, ...]
    exit: ExitReason
    aggregator: str | None
    """None where one answer stands."""
    bill: Bill
    latency_s: float
    """Of calls side by side, as the layers were run."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a mixture answers."""

    text: str
    route: Route
    is_cut: bool = False
    """Whether the call that wrote it came to the limit of its tokens."""
    estimated: tuple[Estimated, ...] = ()
    """Which figures of that call nobody counted or measured."""


class NoAnswer(ModelUnavailable):
    """No model gave an answer, though some were called."""

    def __init__(self, message: str, bill: Bill) -> None:
        super().__init__(message)
        self.bill = bill
        """Of what was called in vain."""
        self.usage = bill.total.usage

    @classmethod
    def of(cls, failed: Mapping[str, str], bill: Bill, *, is_too_dear: bool = False) -> NoAnswer:
        """Of models that were called.

        Args:
            failed: Why each gave none.
            bill: Of their calls.
            is_too_dear: Whether the budget left no room for others.
        """
        reasons = "; ".join(f"{name}: {why.removesuffix('.')}" for name, why in failed.items())
        rest = " What is left of the budget is too little for another." if is_too_dear else ""
        return cls(
            f"No model gave an answer, of {len(failed)} that were asked. {reasons}.{rest}", bill
        )

    def __reduce__(self) -> tuple[type[NoAnswer], tuple[str, Bill], dict[str, Any]]:
        return type(self), (str(self), self.bill), vars(self)
