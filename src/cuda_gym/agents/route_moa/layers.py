"""The mixture: route, propose side by side, assess, exit or go on, aggregate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cuda_gym.agents.route_moa.answers import Answer, Scorer
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.ranking import Budget, Preferences
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.models.model import Limits, Model

__all__ = ["Mixture", "MixturePlan"]


@dataclass(frozen=True, kw_only=True)
class MixturePlan:
    """How a mixture goes about a query."""

    width: int = 3
    """Proposers of a layer."""
    max_layers: int = 3
    """Of proposers; the aggregator comes on top."""
    exit_posterior: float = 0.9
    """A belief at or above ends the layers: that answer stands."""
    exits_on_unanimity: bool = True
    """Whether equal answers of all proposers of a layer end it; one of them stands."""
    preferences: Preferences = field(default_factory=Preferences)
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)


class Mixture:
    """Answers queries with the models of a roster.

    Args:
        roster: Which models there are.
        models: Each by its name; the calls are made through these.
        scorer: Rates them by the query.
        weights: Of the evidence that answers give.
        plan: How to go about it.
    """

    def __init__(
        self,
        roster: Roster,
        models: Mapping[str, Model],
        scorer: Scorer,
        *,
        weights: PosteriorWeights,
        plan: MixturePlan | None = None,
    ) -> None:
        self._roster = roster
        self._models = models
        self._scorer = scorer
        self._weights = weights
        self._plan = plan or MixturePlan()

    def answer(self, query: str) -> Answer:
        """Answer one query.

        Raises:
            ModelError: no model gave an answer; the bill so far is in its `bill`.
            ContextExceeded: the query is longer than every model reads.
        """
        raise NotImplementedError
