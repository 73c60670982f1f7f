"""What a query cost: a line for every call, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuda_gym.models.model import Usage

__all__ = ["Bill", "BillLine"]

BilledFor = Literal["router", "proposer", "judge", "aggregator", "failed"]


@dataclass(frozen=True, kw_only=True)
class BillLine:
    """One call."""

    model: str
    billed_for: BilledFor
    usage: Usage
    cost_usd: float


@dataclass(frozen=True, kw_only=True)
class Bill:
    """All calls of a query, in the order in which they were made."""

    lines: tuple[BillLine, ...] = ()

    @property
    def cost_usd(self) -> float:
        """Of all of them."""
        return sum(line.cost_usd for line in self.lines)

    def __add__(self, other: Bill) -> Bill:
        return Bill(lines=self.lines + other.lines)
