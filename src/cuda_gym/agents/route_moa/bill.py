"""What a query cost: a line for every call, whoever made it.

Covered: calls of models, failed ones too, and the router's own seconds; sums by model and by purpose that
do not depend on the order of the lines; a table for people and plain values for JSON.
Not covered: what a call costs, which its model's prices say; rounding, of which there is none before print.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuda_gym.agents.route_moa.roster import RouterPrice
from cuda_gym.models.model import Completion, Usage

__all__ = ["Bill", "BillLine", "BillSum", "BilledFor", "line_of", "router_line"]

BilledFor = Literal["router", "proposer", "judge", "aggregator", "failed"]


@dataclass(frozen=True, kw_only=True)
class BillLine:
    """One call, or the router's work."""

    model: str
    billed_for: BilledFor
    usage: Usage
    cost_usd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cost_usd) and self.cost_usd >= 0):
            raise ValueError(f"a call of {self.model!r} cannot cost {self.cost_usd} US dollars")


@dataclass(frozen=True, kw_only=True)
class BillSum:
    """Several calls together."""

    calls: int
    """Of models: the router is none."""
    usage: Usage
    cost_usd: float


@dataclass(frozen=True, kw_only=True)
class Bill:
    """All calls of a query, in the order in which they were made."""

    lines: tuple[BillLine, ...] = ()

    @property
    def cost_usd(self) -> float:
        """Of all of them."""
        return self.total.cost_usd

    @property
    def total(self) -> BillSum:
        """All lines together."""
        return _sum(self.lines)

    @property
    def by_model(self) -> dict[str, BillSum]:
        """What each model had, in the order of its first call."""
        return _grouped(self.lines, [line.model for line in self.lines])

    @property
    def by_purpose(self) -> dict[str, BillSum]:
        """What was paid for routing, proposals, judging and so on, in the order of the first call."""
        return _grouped(self.lines, [line.billed_for for line in self.lines])

    def __add__(self, other: Bill) -> Bill:
        return Bill(lines=self.lines + other.lines)

    def as_table(self) -> str:
        """Lines of text: each model, each purpose, and all.

        >>> usage = Usage(prompt_tokens=1200, completion_tokens=80)
        >>> line = BillLine(model="small", billed_for="proposer", usage=usage, cost_usd=0.0004)
        >>> print(Bill(lines=(line,)).as_table())
                  calls  prompt tokens  completion tokens       usd
        small         1          1,200                 80  0.000400
        proposer      1          1,200                 80  0.000400
        all           1          1,200                 80  0.000400
        """
        groups = [*self.by_model.items(), *self.by_purpose.items(), ("all", self.total)]
        rows = [("", "calls", "prompt tokens", "completion tokens", "usd")]
        rows += [(name, *_cells(group)) for name, group in groups]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        return "\n".join(
            "  ".join(
                [row[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            )
            for row in rows
        )

    def as_plain(self) -> dict[str, Any]:
        """The same as values that JSON knows, with every line."""
        return {
            **_plain(self.total),
            "by_model": {name: _plain(group) for name, group in self.by_model.items()},
            "by_purpose": {name: _plain(group) for name, group in self.by_purpose.items()},
            "lines": [
                {
                    "model": line.model,
                    "billed_for": line.billed_for,
                    "prompt_tokens": line.usage.prompt_tokens,
                    "completion_tokens": line.usage.completion_tokens,
                    "cost_usd": line.cost_usd,
                }
                for line in self.lines
            ],
        }


def line_of(completion: Completion, billed_for: BilledFor) -> BillLine:
    """What a call cost, as its model says."""
    return BillLine(
        model=completion.model,
        billed_for=billed_for,
        usage=completion.usage,
        cost_usd=completion.cost_usd,
    )


def router_line(price: RouterPrice, cpu_s: float) -> BillLine:
    """What routing itself cost: no tokens, but seconds of a processor.

    It has its line even where they are free, so that nobody takes it for forgotten.
    """
    return BillLine(
        model="router",
        billed_for="router",
        usage=Usage(prompt_tokens=0, completion_tokens=0),
        cost_usd=price.cost_usd(cpu_s),
    )


def _grouped(lines: Sequence[BillLine], keys: Sequence[str]) -> dict[str, BillSum]:
    groups: dict[str, list[BillLine]] = {}
    for key, line in zip(keys, lines, strict=True):
        groups.setdefault(key, []).append(line)
    return {key: _sum(group) for key, group in groups.items()}


def _sum(lines: Sequence[BillLine]) -> BillSum:
    return BillSum(
        calls=sum(line.billed_for != "router" for line in lines),
        usage=sum((line.usage for line in lines), Usage(prompt_tokens=0, completion_tokens=0)),
        cost_usd=math.fsum(line.cost_usd for line in lines),  # the same in every order
    )


def _plain(group: BillSum) -> Mapping[str, Any]:
    return {
        "calls": group.calls,
        "prompt_tokens": group.usage.prompt_tokens,
        "completion_tokens": group.usage.completion_tokens,
        "cost_usd": group.cost_usd,
    }


def _cells(group: BillSum) -> tuple[str, str, str, str]:
    usage = group.usage
    return (
        f"{group.calls:,}",
        f"{usage.prompt_tokens:,}",
        f"{usage.completion_tokens:,}",
        f"{group.cost_usd:.6f}",
    )
