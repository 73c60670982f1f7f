"""Models that can be asked for proposals, and how they are asked: for the mixture and for what it is compared with.

Covered: prompts cut to each model's context; a reply without an answer in it counts as a failed call; answers are
passed on without scores.
Not covered: whom to ask, and what to do with the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from cuda_gym.agents.route_moa.agreement import Same, same_answer
from cuda_gym.agents.route_moa.answers import Proposal
from cuda_gym.agents.route_moa.calls import Called, call_side_by_side
from cuda_gym.agents.route_moa.judges import Reading, plain_answer, read_reply
from cuda_gym.agents.route_moa.ledger import Call, Ledger
from cuda_gym.agents.route_moa.prompts import Prompt, Step, compose, readers
from cuda_gym.agents.route_moa.ranking import DEFAULT_EXPECTED, Expected
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry
from cuda_gym.errors import ContextExceeded, RosterError
from cuda_gym.models.model import DEFAULT_LIMITS, Limits, Model

__all__ = ["Crew", "Proposed"]


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """Answers of one layer, and the calls behind them."""

    proposals: tuple[Proposal, ...]
    """By rank."""
    called: Called


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Models by name, and how far a call of each may go."""

    roster: Roster
    models: Mapping[str, Model]
    """One for each of the roster."""
    limits: Limits = DEFAULT_LIMITS
    """Of each call."""
    completion_tokens: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """What each model usually writes; one that is not in it is taken to be like the mean of the others."""
    same: Same = same_answer
    """Whether two answers say the same."""

    def __post_init__(self) -> None:
        missing = [name for name in self.roster.names if name not in self.models]
        if missing:
            raise RosterError(
                f"The roster has {', '.join(map(repr, missing))}, and there is no such model to call. "
                "Pass a Model for each name, or take the name off the roster."
            )

    def readers(self, query: str) -> tuple[str, ...]:
        """Models whose context holds a query, in the roster's order.

        Raises:
            ContextExceeded: there is none.
        """
        shortest_first = sorted(self.roster, key=lambda entry: entry.context_tokens)
        sizes = {entry.context_tokens: entry.name for entry in shortest_first}
        fits: set[int] = set()
        for size, name in sizes.items():
            try:
                readers(query, {name: size}, reserve_tokens=self._reserve(size))
                fits.add(size)
            except ContextExceeded as error:
                too_long = error
        if not fits:
            raise too_long
        return tuple(entry.name for entry in self.roster if entry.context_tokens in fits)

    def expected(
        self, step: Step, query: str, answers: Sequence[str] = ()
    ) -> Mapping[str, Expected]:
        """Tokens of a call of each model, if nothing of the prompt must be cut."""
        longest = max(entry.context_tokens for entry in self.roster)
        prompt = self._compose(step, query, answers, longest)
        return {
            name: Expected(prompt_tokens=prompt.tokens, completion_tokens=self._usual_tokens(name))
            for name in self.roster.names
        }

    def calls(
        self, names: Iterable[str], step: Step, query: str, answers: Sequence[str] = ()
    ) -> Iterator[Call]:
        """One for each model that can read the query."""
        for name in names:
            entry = self.roster[name]
            try:
                prompt = self._compose(step, query, answers, entry.context_tokens)
            except ContextExceeded:
                continue
            yield self.call(entry, prompt)

    def call(self, entry: RosterEntry, prompt: Prompt) -> Call:
        """Of one model."""
        return Call(
            model=self.models[entry.name],
            entry=entry,
            prompt=prompt,
            expected_tokens=self._usual_tokens(entry.name),
            limits=self.limits,
        )

    def propose(
        self,
        names: Iterable[str],
        step: Step,
        query: str,
        earlier: Sequence[Proposal] = (),
        *,
        layer: int,
        wanted: int,
        ledger: Ledger,
    ) -> Proposed:
        """Answers of the first models by rank that give one.

        Args:
            names: By rank; the first are called at once, the others in the place of one that fails.
            step: What they are asked for.
            query: What the user wants to know.
            earlier: Proposals that they are shown.
            layer: From 0.
            wanted: How many answers.
            ledger: Pays.
        """
        called = call_side_by_side(
            self.calls(names, step, query, [proposal.text for proposal in earlier]),
            wanted=wanted,
            ledger=ledger,
            roster=self.roster,
            answer_in=lambda reply: _read(reply, step).answer,
        )
        proposals = []
        for call, completion in zip(called.calls, called.completions, strict=True):
            reading = _read(completion.text, step, call.prompt.shown, len(earlier))
            proposals.append(
                Proposal(
                    model=call.entry.name,
                    layer=layer,
                    text=reading.answer,
                    self_score=reading.self_score,
                    peer_scores=reading.peer_scores,
                    completion=completion,
                )
            )
        return Proposed(proposals=tuple(proposals), called=called)

    def _compose(self, step: Step, query: str, answers: Sequence[str], context: int) -> Prompt:
        return compose(
            step, query, answers, context_tokens=context, reserve_tokens=self._reserve(context)
        )

    def _reserve(self, context_tokens: int) -> int:
        """Of a short context, half is for the prompt."""
        return min(self.limits.max_tokens, context_tokens // 2)

    def _usual_tokens(self, name: str) -> float:
        known = self.completion_tokens
        mean = sum(known.values()) / len(known) if known else DEFAULT_EXPECTED.completion_tokens
        return min(known.get(name, mean), self.limits.max_tokens)


def _read(reply: str, step: Step, shown: Sequence[int] = (), num_earlier: int = 0) -> Reading:
    """The answer in a reply, and the scores if any were asked for."""
    if step in (Step.FIRST, Step.AGAIN, Step.JUDGE):
        return read_reply(reply, shown=shown, num_answers=num_earlier)
    return Reading(answer=plain_answer(reply), self_score=None)
