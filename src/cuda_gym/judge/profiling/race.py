"""Reference and candidate take turns on the same new contents, in blocks: A B, B A, A B, ...

Disturbed pairs of blocks are repeated, within bounds. Not covered: which clock a device offers (the
sides know), and what the outputs of the timed calls are worth (the reference side checks them, and
raises).
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cuda_gym.judge.profiling.timing import (
    CREDITED,
    DRY_TOLERANCE,
    Pair,
    TimingPlan,
    bootstrap_interval,
    quiet,
)


class ReferenceSide(Protocol):
    """The compiled reference in its own process."""

    def new_contents(self, count: int) -> int:
        """Make `count` inputs that nobody has seen, for the next block of each side.

        Returns:
            Bytes of the inputs and outputs of one call.
        """
        ...

    def run(self, count: int) -> Sequence[float]:
        """Call on the first `count` of them; microseconds each."""
        ...

    def check(self, count: int) -> None:
        """Compare the candidate's outputs for the first `count` of them.

        Raises:
            WrongOutput: one is wrong.
        """
        ...


class CandidateSide(Protocol):
    """The submission in its own process."""

    def run(self, count: int, *, dry: bool = False) -> tuple[Sequence[float], float]:
        """Call on the first `count` contents: claimed microseconds each, and our own in all.

        Args:
            count: how many.
            dry: let a trusted process go through the motions without calling anything.
        """
        ...


def race(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    *,
    best_compile_us: float | None = None,
    waited_us: Callable[[], float] = lambda: 0.0,
) -> tuple[tuple[Pair, ...], float]:
    """Let both sides run until their ratio is known well enough.

    Args:
        reference: the compiled reference.
        candidate: the submission.
        plan: how long.
        best_compile_us: the best time of torch.compile that was ever seen on this machine.
        waited_us: a counter of the time during which threads of this machine waited for a core.

    Returns:
        The pairs, and the claimed microseconds of the very first call.

    Raises:
        WrongOutput: an output of a timed call is wrong.
    """
    probe = _probe(reference, candidate)
    most = max(2, min(plan.max_calls, plan.max_content_bytes // max(probe.content_bytes, 1)))
    num_reference, num_candidate = (
        max(2, min(most, round(plan.block_s * 1e6 / max(us, 1.0))))
        for us in (min(probe.reference_us, best_compile_us or math.inf), probe.candidate_us)
    )
    pairs: list[Pair] = []
    start = time.monotonic()
    while not _known(pairs, plan, time.monotonic() - start):
        pairs.append(
            _race_once(
                reference,
                candidate,
                counts=(num_reference, num_candidate),
                dropped=plan.dropped_calls if probe.candidate_us < 20_000 else 1,
                reference_first=len(pairs) % 2 == 0,
                dry=len(pairs) % 2 == 0 and _wants_dry_run(pairs, plan),
                waited_us=waited_us,
            )
        )
    return tuple(pairs), probe.first_us


@dataclass(frozen=True, kw_only=True)
class _Probe:
    """What four calls of each side tell."""

    first_us: float
    """The candidate's very first call, alone: nothing is warm, nothing was seen before."""
    candidate_us: float
    reference_us: float
    content_bytes: int


def _probe(reference: ReferenceSide, candidate: CandidateSide) -> _Probe:
    reference.new_contents(1)
    (first_us,), _ = candidate.run(1)
    reference.run(1)
    reference.check(1)
    content_bytes = reference.new_contents(3)
    candidate_us, _ = candidate.run(3)
    reference_us = reference.run(3)
    reference.check(3)
    return _Probe(
        first_us=first_us,
        candidate_us=min(candidate_us),
        reference_us=min(reference_us),
        content_bytes=content_bytes,
    )


def _wants_dry_run(pairs: Sequence[Pair], plan: TimingPlan) -> bool:
    """Until two quiet pairs have a clock; and as long as none of them clears the submission.

    Only where the reference went first: whoever maps new contents first pays for it.
    """
    ratios = [p.clock_ratio for p in quiet(pairs, plan) if p.clock_ratio is not None]
    return len(ratios) < 2 or min(ratios) > CREDITED


def _known(pairs: Sequence[Pair], plan: TimingPlan, elapsed_s: float) -> bool:
    """Whether to stop: an even number of pairs, so that both sides went first equally often."""
    if len(pairs) < plan.min_pairs or len(pairs) % 2:
        return False
    if len(pairs) >= plan.max_pairs or elapsed_s > plan.max_race_s:
        return True
    ratios = [pair.ratio for pair in quiet(pairs, plan)]
    if len(ratios) < plan.min_pairs:
        return False
    low, high = bootstrap_interval(ratios)
    return (high - low) / 2 <= plan.wanted_halfwidth * statistics.median(ratios)


def _race_once(
    reference: ReferenceSide,
    candidate: CandidateSide,
    *,
    counts: tuple[int, int],
    dropped: int,
    reference_first: bool,
    dry: bool,
    waited_us: Callable[[], float],
) -> Pair:
    """One block of each side on the same new contents; outputs of all calls are checked."""
    num_reference, num_candidate = (count + dropped for count in counts)
    most = max(num_reference, num_candidate)
    reference.new_contents(most)
    waited, start = waited_us(), time.monotonic()
    reference_us: Sequence[float] = reference.run(most) if reference_first else ()
    claimed_us, wall_us = candidate.run(num_candidate)
    if not reference_first:
        reference_us = reference.run(most)
    waiting = (waited_us() - waited) / ((time.monotonic() - start) * 1e6)
    reference.check(num_candidate)
    clock_us = None
    if dry:
        filling_us, dry_us = candidate.run(num_candidate, dry=True)
        protocol_us = (dry_us - sum(filling_us)) * (1.0 + DRY_TOLERANCE)
        clock_us = (wall_us - protocol_us) / num_candidate
    return Pair(
        reference_us=tuple(reference_us[dropped:num_reference]),
        candidate_us=tuple(claimed_us[dropped:]),
        clock_us=clock_us,
        waiting=waiting,
    )
