"""Pairs of blocks, and what our own clock says of the claims in them.

That clock runs from handing over the inputs until all outputs are there and the candidate is frozen. What the same
protocol costs without any call is subtracted; what remains, a call, may be `credited` times what is claimed.

Covered: pairs without a dry run, of which that clock says nothing. Not covered: what pairs amount to (`timing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuda_gym.judge.profiling.timing_plan import TimingPlan

__all__ = ["Pair", "clears", "clock_ratios", "fastest_tenth", "is_cleared", "looked_at", "quiet"]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One block of each side, on the same contents."""

    reference_us: tuple[float, ...]
    candidate_us: tuple[float, ...]
    """Claimed; without the dropped calls."""
    dropped_us: tuple[float, ...] = ()
    """Claimed for the calls that do not count."""
    wall_us: float = 0.0
    """Of the whole block by our own clock."""
    protocol_us: float | None = None
    """What handing over takes of that; None where no dry run was made."""
    waiting: float = 0.0
    """Share of the time during which some thread of this machine waited for a core, or of the calls for
    which a gate was too short."""

    @property
    def ratio(self) -> float:
        """How much faster the candidate was."""
        return fastest_tenth(self.reference_us) / fastest_tenth(self.candidate_us)

    def with_candidate_at_least(self, us: float) -> Pair:
        """The same, as if no call of the candidate had taken less."""
        return replace(self, candidate_us=tuple(max(us, each) for each in self.candidate_us))

    def with_reference_at_most(self, us: float) -> Pair:
        """The same, as if no call of the reference had taken longer."""
        return replace(self, reference_us=tuple(min(us, each) for each in self.reference_us))

    @property
    def num_calls(self) -> int:
        """Of the candidate, those that do not count among them."""
        return len(self.candidate_us) + len(self.dropped_us)

    @property
    def claimed_us(self) -> float:
        """For all of them. Who claims much for some calls and little for others is paid less, and accused of nothing."""
        return sum(self.candidate_us) + sum(self.dropped_us)


def quiet(pairs: Sequence[Pair], plan: TimingPlan) -> Sequence[Pair]:
    """The pairs that were not disturbed."""
    return [pair for pair in pairs if pair.waiting <= plan.max_waiting]


def clock_ratios(pairs: Sequence[Pair], plan: TimingPlan) -> list[float]:
    """Our clock over what is claimed, of every pair with a dry run: a call, over the claim that is paid."""
    return [
        work_us / pair.num_calls / fastest_tenth(pair.candidate_us)
        for pair, work_us in looked_at(pairs, plan)
    ]


def is_cleared(pairs: Sequence[Pair], plan: TimingPlan) -> bool:
    """Whether our own clock agrees with what is claimed, in one of the pairs at least."""
    return any(clears(pair, work_us, plan) for pair, work_us in looked_at(pairs, plan))


def looked_at(pairs: Sequence[Pair], plan: TimingPlan) -> list[tuple[Pair, float]]:
    """The pairs with a dry run, and what all calls of the candidate took by our own clock."""
    dry = [(pair, pair.protocol_us) for pair in pairs if pair.protocol_us is not None]
    best: dict[int, float] = {}
    for pair, us in dry:
        best[pair.num_calls] = min(us, best.get(pair.num_calls, us))
    return [
        (pair, pair.wall_us - (best[pair.num_calls] if plan.compares_best_walls else us))
        for pair, us in dry
    ]


def clears(pair: Pair, work_us: float, plan: TimingPlan) -> bool:
    """Whether our own clock agrees with the claims of a pair in which it saw so much work."""
    claimed_us = fastest_tenth(pair.candidate_us)
    return work_us / pair.num_calls <= max(plan.credited * claimed_us, claimed_us + plan.hidden_us)


def fastest_tenth(values: Sequence[float]) -> float:
    """The lower decile; the least of fewer than ten.

    >>> fastest_tenth([5.0, 1.0, 9.0, 2.0])
    1.0
    """
    return sorted(values)[len(values) // 10]
