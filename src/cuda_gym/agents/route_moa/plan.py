"""How a mixture goes about a query."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from cuda_gym.agents.route_moa.ranking import Budget, Preferences
from cuda_gym.models.model import Limits

__all__ = ["MixturePlan"]


@dataclass(frozen=True, kw_only=True)
class MixturePlan:
    """How a mixture goes about a query."""

    width: int = 3
    """Proposers of a layer, at most: fewer where a further one costs more than it adds."""
    least_width: int = 1
    """So many also where one costs more than it adds. Answers can only agree where there are two."""
    max_layers: int = 3
    """Of proposers; the aggregator comes on top."""
    exit_posterior: float = 0.9
    """A belief at or above ends the layers: that answer stands."""
    exits_on_unanimity: bool = True
    """Whether equal answers of all proposers of a layer end it; one of them stands."""
    asks_for_scores: bool = False
    """Whether models are asked in every layer for scores, though these count for nothing: to fit weights on them."""
    preferences: Preferences = field(default_factory=Preferences)
    budget: Budget = field(default_factory=Budget)
    """Of a query in all, router included; no call is made that is not expected to fit."""
    limits: Limits = field(default_factory=Limits)
    """Of each call."""

    @classmethod
    def to_learn(cls, *, width: int = 3, limits: Limits | None = None) -> MixturePlan:
        """How to get answers from which weights of evidence are fitted: scores are asked for, nothing ends early."""
        return cls(
            width=width,
            least_width=width,
            max_layers=2,
            exit_posterior=math.inf,
            exits_on_unanimity=False,
            asks_for_scores=True,
            limits=limits or Limits(),
        )

    def __post_init__(self) -> None:
        if not 1 <= self.least_width <= self.width:
            raise ValueError(
                f"a layer has 1 proposer or more; got width={self.width}, least_width={self.least_width}"
            )
        if self.max_layers < 1:
            raise ValueError(f"a mixture has 1 layer or more; got max_layers={self.max_layers}")
        if not self.exit_posterior >= 0:
            raise ValueError(
                f"exit_posterior is 0 or more, a probability, or beyond 1 for no such exit; got {self.exit_posterior}"
            )
