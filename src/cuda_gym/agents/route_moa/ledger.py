"""What a call is going to cost, and what a query cost so far and still may.

Covered: a call's tokens and time are cut to what its context, and a sum of money or a time, allow.
Not covered: where a server counts more tokens in a prompt than were estimated, which is high rather than low, a
budget can be passed by that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from cuda_gym.agents.route_moa.bill import Bill, BillLine
from cuda_gym.agents.route_moa.prompts import Prompt
from cuda_gym.agents.route_moa.ranking import Budget
from cuda_gym.agents.route_moa.roster import RosterEntry
from cuda_gym.models.model import DEFAULT_LIMITS, Limits, Model

__all__ = ["Call", "Ledger"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """Whom to ask, and what."""

    model: Model
    entry: RosterEntry
    prompt: Prompt
    expected_tokens: float
    """Of the completion."""
    limits: Limits = DEFAULT_LIMITS

    def cost_usd(self, completion_tokens: float) -> float:
        """With a completion of so many tokens."""
        prices = self.entry.prices
        return (
            self.prompt.tokens * prices.input_usd_per_million
            + completion_tokens * prices.output_usd_per_million
        ) / 1e6

    @property
    def expected_usd(self) -> float:
        """Of the whole call, at the limit of its tokens if that is less."""
        return self.cost_usd(min(self.expected_tokens, self.limits.max_tokens))

    @property
    def expected_s(self) -> float:
        """Of the whole call."""
        return self.entry.speed.latency_s(min(self.expected_tokens, self.limits.max_tokens))

    def fits(self, left: Budget, *, taken_usd: float = 0.0) -> bool:
        """Whether it is expected to cost no more than is left, less what others take, and to end in time."""
        return left.allows(usd=taken_usd + self.expected_usd, seconds=self.expected_s)

    def within(self, usd: float | None, seconds: float | None) -> Limits:
        """Its limits, as far as the context, a sum of money and a time go."""
        room = max(1, self.entry.context_tokens - self.prompt.tokens)
        max_tokens = min(self.limits.max_tokens, room)
        if usd is not None:
            paid = (usd - self.cost_usd(0)) * 1e6 / self.entry.prices.output_usd_per_million
            max_tokens = max(1, min(max_tokens, math.floor(paid + 1e-6)))
        timeout_s = self.limits.timeout_s
        if seconds is not None:
            timeout_s = min(timeout_s, seconds)
        return replace(self.limits, max_tokens=max_tokens, timeout_s=timeout_s)


class Ledger:
    """What a query cost so far, and what it still may. For one thread, the one that answers the query."""

    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self._lines: list[BillLine] = []
        self._held_usd = 0.0
        self._elapsed_s = 0.0

    @property
    def bill(self) -> Bill:
        """Of all calls so far."""
        return Bill(lines=tuple(self._lines))

    @property
    def elapsed_s(self) -> float:
        """Modelled, as the calls were made."""
        return self._elapsed_s

    @property
    def left(self) -> Budget:
        """What may still be spent, at least nothing."""
        usd, seconds = self._budget.usd, self._budget.seconds
        spent_usd = self.bill.cost_usd + self._held_usd
        return Budget(
            usd=None if usd is None else max(0.0, usd - spent_usd),
            seconds=None if seconds is None else max(0.0, seconds - self._elapsed_s),
        )

    def add(self, *lines: BillLine) -> None:
        """Bill calls."""
        self._lines.extend(lines)

    def pass_time(self, seconds: float) -> None:
        """Let time go by."""
        self._elapsed_s += seconds

    def hold(self, usd: float) -> None:
        """Keep back what a running call may cost; less than nothing gives it free."""
        self._held_usd += usd
