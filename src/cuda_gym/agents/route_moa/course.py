"""One query on its way through the layers of a mixture.

Covered: every layer ranks the whole roster anew, so that a model that was rated too low has its chance when those
above it fall; a model that failed is not asked again for this query, nor one that would read nothing but its own answer; scores
are evidence and never text that a model reads, and are asked for only where they have a weight.
Not covered: the aggregator, which follows where no answer stands.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import chain

from cuda_gym.agents.route_moa.agreement import group, shares, unanimous
from cuda_gym.agents.route_moa.answers import (
    Answer,
    Belief,
    ExitReason,
    LayerRecord,
    NoAnswer,
    Proposal,
    Route,
    Scorer,
)
from cuda_gym.agents.route_moa.bill import Bill, router_line
from cuda_gym.agents.route_moa.crew import Crew, Proposed
from cuda_gym.agents.route_moa.judges import Assessment, assess
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.plan import MixturePlan
from cuda_gym.agents.route_moa.posterior import PosteriorWeights, update
from cuda_gym.agents.route_moa.prompts import Step
from cuda_gym.agents.route_moa.ranking import Ranked, choose_layer, rank
from cuda_gym.errors import BudgetExceeded
from cuda_gym.models.model import Completion

__all__ = ["Course"]


class Course:
    """What is known of one query, layer by layer.

    Args:
        query: What the user wants to know.
        crew: Who can be asked.
        scorer: Rates them by the query.
        weights: Of the evidence that answers give.
        plan: How to go about it.
        topic: What the scorer reads; None is the query.

    Raises:
        ContextExceeded: the query is longer than every model reads.
    """

    def __init__(
        self,
        query: str,
        crew: Crew,
        scorer: Scorer,
        *,
        weights: PosteriorWeights,
        plan: MixturePlan,
        topic: str | None = None,
    ) -> None:
        self.query = query
        self.ledger = Ledger(plan.budget)
        self._crew = crew
        self._weights = weights
        self._plan = plan
        self._router_s = 0.0
        started = time.perf_counter()
        self._readers = frozenset(crew.readers(query))
        self._prior = _whole(scorer.score(query if topic is None else topic), crew.roster.names)
        self._beliefs: Mapping[str, Belief] = self._prior
        self._failed: dict[str, str] = {}
        self._records: list[LayerRecord] = []
        self._proposals: list[Proposal] = []
        self._agreement: list[float | None] = []
        self._peers: list[float | None] = []
        self._judges: list[str | None] = []
        self._route_for(started)

    def run(self) -> tuple[ExitReason, Proposal | None]:
        """Go through the layers; the answer that stands, or None where one must be made of the last layer's.

        Raises:
            NoAnswer: no model gave any.
            BudgetExceeded: no call is expected to fit.
        """
        for layer in range(self._plan.max_layers):
            step = self._step(layer)
            chosen, others = self._choose(step)
            if not chosen:
                return self._stopped(step)
            if self._would_read_itself_alone(chosen):
                return "one answer", self.best
            proposed = self._crew.propose(
                (one.model for one in chain(chosen, others)),
                step,
                self.query,
                self.last,
                layer=layer,
                wanted=len(chosen),
                ledger=self.ledger,
            )
            if not proposed.proposals:
                self._failed.update(proposed.called.failed)
                self._record(chosen, proposed, Assessment(judge=None, peers=()))
                return self._stopped(step)
            self._take(chosen, proposed)
            if exit_reason := self._exit():
                return exit_reason, self.best
        if len(group([proposal.text for proposal in self.last], self._crew.same)) == 1:
            return "one answer", self.best
        return "last layer", None

    @property
    def last(self) -> tuple[Proposal, ...]:
        """Proposals of the last layer that gave any."""
        if not self._proposals:
            return ()
        layer = self._proposals[-1].layer
        return tuple(proposal for proposal in self._proposals if proposal.layer == layer)

    @property
    def best(self) -> Proposal:
        """The newest answer of the model that is most likely right."""
        newest = {proposal.model: proposal for proposal in self._proposals}
        return max(newest.values(), key=lambda one: (self._beliefs[one.model].mean, one.layer))

    @property
    def bill(self) -> Bill:
        """Of all calls so far, and of the router."""
        router = router_line(self._crew.roster.router, self._router_s)
        return Bill(lines=(router,)) + self.ledger.bill

    def aggregations(self) -> Iterator[Call]:
        """Calls that make one answer of the last layer's, by the best model first; none where none fits the budget."""
        names = [one.model for one in self._ranked(Step.AGGREGATE)]
        texts = [proposal.text for proposal in self.last]
        return self._crew.calls(names, Step.AGGREGATE, self.query, texts)

    def stands(self, proposal: Proposal, exit_reason: ExitReason) -> Answer:
        """A proposal as what the user gets."""
        return self._answer(proposal.text, exit_reason, proposal.completion, None)

    def made(self, text: str, exit_reason: ExitReason, completion: Completion) -> Answer:
        """What an aggregator wrote as what the user gets."""
        return self._answer(text, exit_reason, completion, completion.model)

    def _answer(
        self, text: str, exit_reason: ExitReason, written: Completion, aggregator: str | None
    ) -> Answer:
        return Answer(
            text=text,
            is_cut=written.is_cut,
            estimated=written.estimated,
            route=Route(
                prior=self._prior,
                layers=tuple(self._records),
                exit=exit_reason,
                aggregator=aggregator,
                bill=self.bill,
                latency_s=self.ledger.elapsed_s,
            ),
        )

    def _step(self, layer: int) -> Step:
        """What is asked for: asking for a score costs tokens in every call, so only one that counts is."""
        asks_own = self._plan.asks_for_scores or self._weights.self_score != 0
        if not self._proposals:
            return Step.FIRST if asks_own else Step.LAST
        if layer == self._plan.max_layers - 1 and not self._plan.asks_for_scores:
            return Step.LAST
        if asks_own:
            return Step.AGAIN
        return Step.JUDGE if self._weights.peer_score != 0 else Step.LAST

    def _choose(self, step: Step) -> tuple[tuple[Ranked, ...], list[Ranked]]:
        """Whom to call, and who takes the place of one that fails, by rank."""
        started = time.perf_counter()
        ranked = self._ranked(step)
        chosen = choose_layer(
            ranked,
            self._plan.width,
            self._plan.preferences,
            at_least=self._plan.least_width,
            roster=self._crew.roster,
            budget=self.ledger.left,
        )
        taken = {one.model for one in chosen}
        self._route_for(started)
        return chosen, [one for one in ranked if one.model not in taken]

    def _would_read_itself_alone(self, chosen: tuple[Ranked, ...]) -> bool:
        """Whether the next layer is the one model whose answer is all there is: what it would say is known."""
        return len(self.last) == 1 and [one.model for one in chosen] == [self.last[0].model]

    def _ranked(self, step: Step, *, in_budget: bool = True) -> tuple[Ranked, ...]:
        texts = [proposal.text for proposal in self.last]
        ranked = rank(
            self._beliefs,
            self._crew.roster,
            self._crew.expected(step, self.query, texts),
            preferences=self._plan.preferences,
            budget=self.ledger.left if in_budget else None,
        )
        can_be_asked = self._readers - self._failed.keys()
        return tuple(one for one in ranked if one.model in can_be_asked)

    def _take(self, chosen: tuple[Ranked, ...], proposed: Proposed) -> None:
        """Learn from a layer's answers, about it and about the layer before."""
        earlier = self.last
        self._failed.update(proposed.called.failed)
        assessment = assess(earlier, proposed.proposals, self._beliefs)
        self._peers[len(self._peers) - len(earlier) :] = assessment.peers
        self._judges[len(self._judges) - len(earlier) :] = [assessment.judge] * len(earlier)
        texts = [proposal.text for proposal in proposed.proposals]
        self._proposals += proposed.proposals
        self._agreement += shares(texts, self._crew.same)
        self._peers += [None] * len(texts)
        self._judges += [None] * len(texts)
        self._beliefs = update(
            self._prior,
            self._proposals,
            peers=self._peers,
            agreement=self._agreement,
            weights=self._weights,
            judges=self._judges,
        )
        self._record(chosen, proposed, assessment)

    def _record(
        self, chosen: tuple[Ranked, ...], proposed: Proposed, assessment: Assessment
    ) -> None:
        self._records.append(
            LayerRecord(
                chosen=tuple(one.model for one in chosen),
                proposals=proposed.proposals,
                failed=proposed.called.failed,
                judge=assessment.judge,
                beliefs=self._beliefs,
                latency_s=proposed.called.latency_s,
            )
        )

    def _exit(self) -> ExitReason | None:
        """Why the best answer stands, if it does."""
        if self._beliefs[self.best.model].mean >= self._plan.exit_posterior:
            return "posterior"
        texts = [proposal.text for proposal in self.last]
        if self._plan.exits_on_unanimity and unanimous(texts, self._crew.same):
            return "unanimity"
        return None

    def _stopped(self, step: Step) -> tuple[ExitReason, Proposal]:
        """Nobody can be called any more: the best answer so far stands, if there is one."""
        is_too_dear = bool(self._ranked(step, in_budget=False))
        if self._proposals:
            return ("budget" if is_too_dear else "last layer"), self.best
        if is_too_dear and not self._failed:
            left = self.ledger.left
            raise BudgetExceeded(
                f"No model is expected to answer for {_told(left.usd, 'US dollars')} and in "
                f"{_told(left.seconds, 'seconds')}. Raise the budget, or add a cheaper or faster model."
            )
        raise NoAnswer.of(self._failed, self.bill, is_too_dear=is_too_dear)

    def _route_for(self, started: float) -> None:
        """Count the time since then as the router's: one core for as long as it took."""
        seconds = time.perf_counter() - started
        self._router_s += seconds
        self.ledger.pass_time(seconds)
        self.ledger.hold(self._crew.roster.router.cost_usd(seconds))


def _whole(scored: Mapping[str, Belief], names: tuple[str, ...]) -> dict[str, Belief]:
    """A belief in every model: one that the scorer does not know is taken for the mean of the others."""
    known = [scored[name].mean for name in names if name in scored]
    stranger = Belief(mean=sum(known) / len(known) if known else 0.5, weight=0.0)
    return {name: scored.get(name, stranger) for name in names}


def _told(number: float | None, unit: str) -> str:
    return f"any number of {unit}" if number is None else f"{number:.6g} {unit}"
