"""What a mixture has to beat, made of the same calls, bills and times.

Covered: best single, best per category, static best k, classical mixture of agents (2406.04692), sparse mixture of
agents (2411.03284), Self-MoA (2502.00674), cascade (2305.05176), plurality of all, oracle. As in the mixture, a model that
fails is replaced by the next where the method has an order, and is missing where it asks all.
Not covered: how a method gets its order or its labels: from training questions, or it is no baseline. The sparse
mixture has neither roles for its models nor a moderator that ends it early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, final

from cuda_gym.agents.route_moa.agreement import plurality
from cuda_gym.agents.route_moa.answers import Answer, Proposal
from cuda_gym.agents.route_moa.crew import Crew
from cuda_gym.agents.route_moa.prompts import Step
from cuda_gym.agents.route_moa.roster import Roster
from cuda_gym.agents.route_moa.trail import Trail

__all__ = [
    "BestPerCategory",
    "BestSingle",
    "Cascade",
    "ClassicalMoA",
    "Method",
    "Oracle",
    "PluralityOfAll",
    "SelfMoA",
    "SparseMoA",
    "StaticBestK",
    "cheap_to_dear",
]


class Method(Protocol):
    """Anything that answers queries with models: the mixture and what it is compared with."""

    @property
    def name(self) -> str:
        """In tables."""
        ...

    def answer(self, query: str) -> Answer:
        """Answer one query.

        Raises:
            NoAnswer: no model gave an answer; what it cost is in its `bill`.
            ContextExceeded: the query is longer than every model reads.
        """
        ...


def cheap_to_dear(roster: Roster) -> tuple[str, ...]:
    """Models by the price of their output, then of their input, then by name."""
    return tuple(
        entry.name
        for entry in sorted(
            roster,
            key=lambda entry: (
                entry.prices.output_usd_per_million,
                entry.prices.input_usd_per_million,
                entry.name,
            ),
        )
    )


@final
@dataclass(frozen=True, kw_only=True)
class BestSingle:
    """One model for everything."""

    crew: Crew
    order: Sequence[str]
    """Best first; the others stand in for it."""
    name: str = "best single"

    def answer(self, query: str) -> Answer:
        """That model's answer."""
        trail = Trail(self.crew, query)
        (proposal,) = trail.propose(self.order, wanted=1)
        return trail.stands(proposal, "one answer")


@final
@dataclass(frozen=True, kw_only=True)
class BestPerCategory:
    """One model for each kind of question."""

    crew: Crew
    orders: Mapping[str, Sequence[str]]
    """Of each category, best first."""
    otherwise: Sequence[str]
    """For a category without an order."""
    category_of: Callable[[str], str]
    """Of a query."""
    name: str = "best per category"

    def answer(self, query: str) -> Answer:
        """The answer of its category's best model."""
        order = self.orders.get(self.category_of(query), self.otherwise)
        return BestSingle(crew=self.crew, order=order).answer(query)


@final
@dataclass(frozen=True, kw_only=True)
class StaticBestK:
    """The same few models for everything: the router's work without a router."""

    crew: Crew
    order: Sequence[str]
    """Best first; those behind the first k stand in for them."""
    k: int = 3
    ends: Literal["vote", "aggregator"] = "vote"
    """A plurality of the answers, or one that the best model makes of them."""
    name: str = "static best k"

    def answer(self, query: str) -> Answer:
        """What k models answer together."""
        trail = Trail(self.crew, query)
        proposals = trail.propose(self.order, wanted=self.k)
        if self.ends == "vote":
            return _voted(trail, proposals)
        return trail.aggregate(self.order, proposals)


@final
@dataclass(frozen=True, kw_only=True)
class PluralityOfAll:
    """What most of all models say."""

    crew: Crew
    order: Sequence[str]
    """All of them; where two answers have as many votes, that of the model further ahead counts."""
    name: str = "plurality of all"

    def answer(self, query: str) -> Answer:
        """The answer that most give."""
        trail = Trail(self.crew, query)
        return _voted(trail, trail.propose(self.order, wanted=len(self.order)))


@final
@dataclass(frozen=True, kw_only=True)
class ClassicalMoA:
    """All models in all layers, each reading all answers of the layer before; then an aggregator."""

    crew: Crew
    names: Sequence[str]
    """In every layer."""
    aggregators: Sequence[str]
    """The first makes the answer, the others stand in for it."""
    layers: int = 3
    """Of proposers."""
    name: str = "MoA"

    def answer(self, query: str) -> Answer:
        """What the aggregator makes of the last layer."""
        trail = Trail(self.crew, query)
        proposals: tuple[Proposal, ...] = ()
        for _ in range(self.layers):
            proposals = trail.propose(self.names, earlier=proposals, wanted=len(self.names))
        return trail.aggregate(self.aggregators, proposals)


@final
@dataclass(frozen=True, kw_only=True)
class SparseMoA:
    """All models in all layers, but a judge keeps only the k best answers of each."""

    crew: Crew
    names: Sequence[str]
    """In every layer."""
    judges: Sequence[str]
    """The first reads the answers and chooses, the others stand in for it."""
    aggregators: Sequence[str]
    """As the judges."""
    keep: int = 3
    """Answers of a layer."""
    layers: int = 3
    """Of proposers."""
    name: str = "SMoA"

    def answer(self, query: str) -> Answer:
        """What the aggregator makes of the answers that were kept of the last layer."""
        trail = Trail(self.crew, query)
        kept: tuple[Proposal, ...] = ()
        for _ in range(self.layers):
            proposals = trail.propose(self.names, earlier=kept, wanted=len(self.names))
            kept = trail.keep(self.keep, proposals, self.judges)
        return trail.aggregate(self.aggregators, kept)


@final
@dataclass(frozen=True, kw_only=True)
class SelfMoA:
    """The best model several times, and once more to make one answer of its answers."""

    crew: Crew
    model: str
    samples: int = 6
    temperature: float = 0.7
    """Of the samples: at 0 they would be one."""
    name: str = "Self-MoA"

    def answer(self, query: str) -> Answer:
        """What the model makes of its own answers."""
        limits = replace(self.crew.limits, temperature=self.temperature)
        trail = Trail(self.crew, query)
        proposals = trail.propose(
            [self.model] * self.samples,
            wanted=self.samples,
            crew=replace(self.crew, limits=limits),
        )
        return trail.aggregate([self.model], proposals)


@final
@dataclass(frozen=True, kw_only=True)
class Cascade:
    """One model after the other, cheap to dear, until an answer is trusted."""

    crew: Crew
    order: Sequence[str]
    """Cheap to dear, see `cheap_to_dear`."""
    confident_from: float | None = 0.9
    """A model's score of its own answer that is enough; None trusts none."""
    agreeing: int = 2
    """So many equal answers are enough."""
    least_confident: Mapping[str, float] = field(default_factory=dict)
    """Such scores for single models, fitted: models differ in how they score themselves."""
    name: str = "cascade"

    def answer(self, query: str) -> Answer:
        """The first answer that is trusted, or the last."""
        trail = Trail(self.crew, query)
        answers: list[Proposal] = []
        trusts_scores = self.confident_from is not None or self.least_confident
        step = Step.FIRST if trusts_scores else Step.LAST
        for model in trail.readers_of(self.order):
            proposals = trail.propose([model], step=step, wanted=1, is_vital=False)
            for proposal in proposals:
                answers.append(proposal)
                if self._is_confident(proposal):
                    return trail.stands(proposal, "posterior")
                if sum(self.crew.same(a.text, proposal.text) for a in answers) >= self.agreeing:
                    return trail.stands(proposal, "unanimity")
        if not answers:
            raise trail.no_answer()
        return trail.stands(answers[-1], "last layer")

    def _is_confident(self, proposal: Proposal) -> bool:
        enough = self.least_confident.get(proposal.model, self.confident_from)
        score = proposal.self_score
        return enough is not None and score is not None and score >= enough


@final
@dataclass(frozen=True, kw_only=True)
class Oracle:
    """The cheapest model that is right, as if one knew: no method can do better with one call."""

    crew: Crew
    is_right: Callable[[str, str], bool]
    """Whether, to this query, this model's answer is right."""
    name: str = "oracle"

    def answer(self, query: str) -> Answer:
        """A right answer if there is one, else the cheapest."""
        names = cheap_to_dear(self.crew.roster)
        right_first = sorted(names, key=lambda model: not self.is_right(query, model))
        return BestSingle(crew=self.crew, order=right_first).answer(query)


def _voted(trail: Trail, proposals: Sequence[Proposal]) -> Answer:
    most = plurality([proposal.text for proposal in proposals], same=trail.crew.same)
    return trail.stands(proposals[most], "last layer")
