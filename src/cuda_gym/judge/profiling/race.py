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

from cuda_gym.judge.profiling.audits import (
    Audit,
    Probed,
    audited_calls,
    further_audits,
    take_audit,
)
from cuda_gym.judge.profiling.pairs import (
    Pair,
    clock_ratios,
    fastest_tenth,
    is_cleared,
    quiet,
)
from cuda_gym.judge.profiling.sides import Block, CandidateSide, ReferenceSide
from cuda_gym.judge.profiling.timing import bootstrap_interval
from cuda_gym.judge.profiling.timing_plan import TimingPlan


@dataclass(frozen=True, kw_only=True)
class Race:
    """What a race has shown."""

    pairs: tuple[Pair, ...]
    audits: tuple[Audit, ...]
    first_call_us: float
    """Claimed for the very first call: nothing is warm, nothing was seen before."""
    timer: str
    """The clock that both sides were timed with."""
    host_us: float
    """How long a call of the submission keeps the host; claimed."""


def race(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    *,
    best_compile_us: float | None = None,
    waited_us: Callable[[], float] = lambda: 0.0,
) -> Race:
    """Let both sides run until their ratio is known well enough.

    Args:
        reference: the compiled reference.
        candidate: the submission.
        plan: how long.
        best_compile_us: the best time of torch.compile that was ever seen on this machine.
        waited_us: a counter of the time during which threads of this machine waited for a core.

    Raises:
        WrongOutput: an output of a timed call is wrong.
    """
    probe = _probe(reference, candidate, plan)
    calls = audited_calls(best_compile_us or probe.reference_us, plan)
    audits = tuple(
        take_audit(reference, candidate, plan, probe, calls) for _ in range(plan.num_audits)
    )
    fastest_us = min(probe.reference_us, best_compile_us or math.inf)
    pairs = _take_turns(
        reference, candidate, plan, probe, fastest_us=fastest_us, waited_us=waited_us
    )
    claimed_us = statistics.median(fastest_tenth(pair.candidate_us) for pair in pairs)
    return Race(
        pairs=pairs,
        audits=further_audits(reference, candidate, plan, probe, audits, claimed_us),
        first_call_us=probe.first_us,
        timer=probe.timer,
        host_us=probe.host_us,
    )


def _take_turns(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    probe: _Probe,
    *,
    fastest_us: float,
    waited_us: Callable[[], float],
) -> tuple[Pair, ...]:
    """Pairs of blocks, until their ratio is known well enough."""
    most = plan.most_contents(probe.content_bytes)
    dropped = plan.dropped_calls if probe.candidate_us < _LONG_CALL_US else 1
    dropped = dropped if most > 1 else 0
    most -= bool(dropped)
    claimed_us = probe.candidate_us
    pairs: list[Pair] = []
    start = time.monotonic()
    while not _known(pairs, plan, time.monotonic() - start):
        looks = _wants_dry_run(pairs, plan)
        is_short = claimed_us < plan.short_us
        longest = plan.max_short_calls if looks and is_short else plan.max_calls
        tolerance = 0.0 if is_short else plan.dry_tolerance
        pairs.append(
            _race_once(
                reference,
                candidate,
                counts=(
                    min(_num_calls(fastest_us, plan, longest), most),
                    min(_num_calls(claimed_us, plan, longest), most),
                ),
                dropped=dropped,
                reference_first=len(pairs) % 2 == 0,
                dry_tolerance=tolerance if looks else None,
                too_few_us=plan.short_us if longest < plan.max_short_calls else 0.0,
                gates_us=probe.gates_us,
                least_us=plan.least_us,
                waited_us=waited_us,
            )
        )
        claimed_us = min(claimed_us, fastest_tenth(pairs[-1].candidate_us))
    return tuple(pairs)


@dataclass(frozen=True, kw_only=True)
class _Probe(Probed):
    """What four calls of each side tell."""

    first_us: float
    reference_us: float
    gates_us: tuple[float, float]
    """Of the reference, and of the candidate."""
    timer: str


def _probe(reference: ReferenceSide, candidate: CandidateSide, plan: TimingPlan) -> _Probe:
    gate_us = plan.longest_gate_us
    content_bytes = reference.new_contents(1)
    first = candidate.run(1, gate_us=gate_us)
    reference.run(1, gate_us=gate_us)
    reference.check(1)
    count = min(3, plan.most_contents(content_bytes))
    reference.new_contents(count)
    theirs = candidate.run(count, gate_us=gate_us)
    ours = reference.run(count, gate_us=gate_us)
    reference.check(count)
    waits = theirs.num_ungated > count // 3  # one of three may be a hiccup of the host
    host_us = statistics.median(theirs.host_us)
    gates_us = 0.0, 0.0
    if gate_us and not waits:
        gates_us = _gate_us(min(ours.host_us), gate_us), _gate_us(host_us, gate_us)
    return _Probe(
        first_us=first.call_us[0],
        candidate_us=min(theirs.call_us),
        reference_us=min(ours.call_us),
        host_us=host_us,
        gates_us=gates_us,
        waits=waits,
        timer=UNGATED_TIMER if plan.longest_gate_us and waits else plan.timer,
        content_bytes=content_bytes,
    )


def _gate_us(host_us: float, longest_us: float) -> float:
    return min(longest_us, max(_SHORTEST_GATE_US, _GATE * host_us))


def _late(block: Block) -> float:
    """Share of the calls that measure the host, for it was late."""
    return block.num_ungated / max(1, len(block.call_us))


def _num_calls(us: float, plan: TimingPlan, longest: int) -> int:
    """Timed calls of a block, so that it is as long as it should be, and of no more than `longest`."""
    return max(2, min(longest, round(plan.block_s * 1e6 / max(us, 1.0))))


_LONG_CALL_US = 20_000
"""One such call warms all that there is to be warmed."""
UNGATED_TIMER = "events, ungated: the submission waits for the device"
_GATE = 2.0
"""The length of a gate, as a multiple of what a call keeps the host. Where the host outlasts it, the
reading is the host's: 21.7 us instead of 9.6 (measured)."""
_SHORTEST_GATE_US = 30.0


def _wants_dry_run(pairs: Sequence[Pair], plan: TimingPlan) -> bool:
    """Until two quiet pairs have a clock; and as long as none of them clears the submission.

    Only if the reference goes first: it evicts the caches behind the dry run, so that both are cold.
    """
    if plan.num_audits or len(pairs) % 2:
        return False
    seen = quiet(pairs, plan)
    return len(clock_ratios(seen, plan)) < 2 or not is_cleared(seen, plan)


def _known(pairs: Sequence[Pair], plan: TimingPlan, elapsed_s: float) -> bool:
    """Whether to stop: an even number of pairs, so that both sides went first equally often."""
    if len(pairs) < plan.min_pairs or len(pairs) % 2:
        return False
    if len(pairs) >= plan.max_pairs or elapsed_s > plan.max_race_s:
        return True
    if sum(len(pair.candidate_us) for pair in pairs) < plan.min_calls:
        return False
    if plan.compares_best_walls and not is_cleared(pairs, plan):
        return False
    seen = quiet(pairs, plan)
    if len(seen) < plan.min_pairs:
        return False
    low, high = bootstrap_interval([pair.ratio for pair in seen])
    brief = min(fastest_tenth(pair.candidate_us) for pair in seen) < plan.brief_us
    wanted = plan.brief_halfwidth if brief else plan.wanted_halfwidth
    return (high - low) / 2 <= wanted * statistics.median(pair.ratio for pair in seen)


def _race_once(
    reference: ReferenceSide,
    candidate: CandidateSide,
    *,
    counts: tuple[int, int],
    dropped: int,
    reference_first: bool,
    dry_tolerance: float | None,
    too_few_us: float,
    gates_us: tuple[float, float],
    least_us: float,
    waited_us: Callable[[], float],
) -> Pair:
    """One block of each side on the same new contents; outputs of all timed calls are checked.

    Where there is a tolerance, a dry run tells what our own clock is to leave out; not where less than
    `too_few_us` is claimed a call: of so few that clock sees too little, and the next block has more.
    """
    num_reference, num_candidate = counts
    most = max(num_reference, num_candidate)
    reference.new_contents(most, spare=dropped > 0)
    waited, start = waited_us(), time.monotonic()
    our_gate_us, gate_us = gates_us
    filled = None
    if dry_tolerance is not None:
        filled = candidate.run(num_candidate, dropped=dropped, gate_us=gate_us, dry=True)
    ours = reference.run(most, dropped=dropped, gate_us=our_gate_us) if reference_first else None
    theirs = candidate.run(num_candidate, dropped=dropped, gate_us=gate_us)
    if ours is None:
        ours = reference.run(most, dropped=dropped, gate_us=our_gate_us)
    waiting = (waited_us() - waited) / ((time.monotonic() - start) * 1e6)
    reference.check(num_candidate)
    protocol_us = None
    if filled is not None and fastest_tenth(theirs.call_us[dropped:]) >= too_few_us:
        protocol_us = (filled.wall_us - sum(filled.call_us)) * (1.0 + (dry_tolerance or 0.0))
    ours_us, theirs_us = (
        tuple(max(us, least_us) for us in block.call_us) for block in (ours, theirs)
    )
    return Pair(
        reference_us=ours_us[dropped : dropped + num_reference],
        candidate_us=theirs_us[dropped:],
        dropped_us=theirs_us[:dropped],
        wall_us=theirs.wall_us,
        protocol_us=protocol_us,
        waiting=max(waiting, _late(ours), _late(theirs)) if gate_us else waiting,
    )
