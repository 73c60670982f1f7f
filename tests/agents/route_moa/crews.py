"""Small rosters of scripted models, for tests of what is made of their answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cuda_gym.agents.route_moa.answers import Belief
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.layers import Mixture, MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, RouterPrice, Speed
from cuda_gym.errors import ModelError, ModelUnavailable
from cuda_gym.models.model import Message, Prices
from cuda_gym.models.scripted import ScriptedModel

QUERY = "What is six times seven?"
DOWN: tuple[ModelError, ...] = (ModelUnavailable("nobody is there"),) * 20

ASKED = PosteriorWeights(self_score=1.0)
"""Scores are asked for; whoever gives none changes no belief."""

Says = str | Sequence[str] | Callable[[Sequence[Message]], str]


def reply(answer: str, self_score: object = None, peer_scores: object = None) -> str:
    """What a model writes that does as it is told."""
    said = {"answer": answer, "self_score": self_score, "peer_scores": peer_scores}
    return json.dumps({key: value for key, value in said.items() if value is not None})


@dataclass
class One:
    """A model: what it says, and what is known of it."""

    says: Says = ""
    prior: float = 0.5
    usd: float = 1.0
    """For a million tokens, in or out."""
    latency_s: float = 1.0
    context_tokens: int = 8192
    fails: Sequence[ModelError | None] = ()

    @property
    def prices(self) -> Prices:
        return Prices(input_usd_per_million=self.usd, output_usd_per_million=self.usd)


@dataclass
class Crowd:
    """Models by name, and what is made of them."""

    ones: Mapping[str, One]
    scripted: dict[str, ScriptedModel] = field(default_factory=dict)
    router: RouterPrice = field(default_factory=RouterPrice)

    def __post_init__(self) -> None:
        for name, one in self.ones.items():
            self.scripted[name] = ScriptedModel(
                name,
                [one.says] * 20 if isinstance(one.says, str) else one.says,
                prices=one.prices,
                first_token_s=one.latency_s,
                fails=one.fails,
            )

    @property
    def roster(self) -> Roster:
        return Roster(
            tuple(
                RosterEntry(
                    name=name,
                    prices=one.prices,
                    speed=Speed(first_token_s=one.latency_s, tokens_per_s=1e6),
                    context_tokens=one.context_tokens,
                )
                for name, one in self.ones.items()
            ),
            router=self.router,
        )

    @property
    def crew(self) -> Crew:
        return Crew(roster=self.roster, models=self.scripted)

    @property
    def called(self) -> dict[str, int]:
        """How often each was, of those that were."""
        counts = {name: len(model.calls) for name, model in self.scripted.items()}
        return {name: count for name, count in counts.items() if count}

    def score(self, query: str) -> Mapping[str, Belief]:
        """As a scorer."""
        return {name: Belief(mean=one.prior, weight=0.0) for name, one in self.ones.items()}

    def mixture(
        self, plan: MixturePlan | None = None, weights: PosteriorWeights | None = None
    ) -> Mixture:
        return Mixture(self.roster, self.scripted, self, weights=weights or ASKED, plan=plan)
