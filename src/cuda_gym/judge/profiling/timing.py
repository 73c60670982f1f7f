"""How much faster than the reference? An interleaved race, and what its blocks amount to.

Reference and candidate take turns on the same new contents, in blocks: A B, B A, A B, ... Each
pair of blocks gives one ratio of medians; the speed-up is the median of those ratios, and its
interval comes from a bootstrap over pairs, not calls (calls of one block share their luck).

A candidate's clock is a claim. So the judge keeps its own: from handing over the inputs until all
outputs are there and the candidate is frozen. What the same protocol costs without any call is
subtracted; what then remains over the claims is time that was hidden. Above `CREDITED` the times
are scaled by it, above `REFUSED` the submission is refused.

A pair during which threads had to wait for a core is disturbed: with two threads and a barrier, a
neighbour turns 1 ms into 9. Disturbed pairs are left out and repeated, within bounds; where none
is quiet, hidden time is still credited, but nobody is refused for it.

Not covered: which clock a device offers (the sides know), and what the outputs of the timed calls
are worth (the reference side checks them, and raises).
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cuda_gym.core import Timing
from cuda_gym.errors import Refused

CREDITED = 1.05
REFUSED = 1.25
HIDDEN_US = 50.0
"""A gap a call below this is the harness's own and never refused."""


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


@dataclass(frozen=True, kw_only=True)
class TimingPlan:
    """How long to race."""

    block_s: float = 0.05
    """Least timed seconds of a block."""
    dropped_calls: int = 3
    """First calls of a block: caches and threads of this process come back."""
    min_pairs: int = 4
    max_pairs: int = 12
    wanted_halfwidth: float = 0.02
    """Of the 95 % interval, relative: the race ends when it is reached."""
    max_calls: int = 64
    """A block has no more, however fast a call is: each has new content."""
    max_content_bytes: int = 256 * 1024 * 1024
    """Inputs and outputs of one block."""
    max_race_s: float = 4.0
    """After the least number of pairs the race ends here, whatever the interval is."""
    max_waiting: float = 0.05
    """Share of a pair's time that threads of this machine may wait for a core."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One block of each side, on the same contents."""

    reference_us: tuple[float, ...]
    candidate_us: tuple[float, ...]
    """Claimed; dropped calls are gone."""
    clock_ratio: float | None = None
    """Our clock over the claims; None where the dry run was not made."""
    hidden_us: float = 0.0
    """Our clock minus the claims, a call."""
    waiting: float = 0.0
    """Share of the time during which some thread of this machine waited for a core."""

    @property
    def ratio(self) -> float:
        """How much faster the candidate was."""
        return statistics.median(self.reference_us) / statistics.median(self.candidate_us)


def race(
    reference: ReferenceSide,
    candidate: CandidateSide,
    plan: TimingPlan,
    *,
    reference_us: float,
    waited_us: Callable[[], float] = lambda: 0.0,
) -> tuple[tuple[Pair, ...], float]:
    """Let both sides run until their ratio is known well enough.

    Args:
        reference: the compiled reference.
        candidate: the submission.
        plan: how long.
        reference_us: about what a call of the reference takes.
        waited_us: a counter of the time during which threads of this machine waited for a core.

    Returns:
        The pairs, and the claimed microseconds of the very first call.

    Raises:
        WrongOutput: an output of a timed call is wrong.
        Refused: time was hidden from the candidate's clock.
    """
    first_us, candidate_us, content_bytes = _probe(reference, candidate)
    most = max(2, min(plan.max_calls, plan.max_content_bytes // max(content_bytes, 1)))
    num_reference, num_candidate = (
        max(2, min(most, round(plan.block_s * 1e6 / max(us, 1.0))))
        for us in (reference_us, candidate_us)
    )
    pairs: list[Pair] = []
    start = time.monotonic()
    while not _known(pairs, plan, time.monotonic() - start):
        pairs.append(
            _race_once(
                reference,
                candidate,
                counts=(num_reference, num_candidate),
                dropped=plan.dropped_calls if candidate_us < 20_000 else 1,
                reference_first=len(pairs) % 2 == 0,
                dry=not any(p.clock_ratio for p in quiet(pairs, plan)) or len(pairs) < 2,
                waited_us=waited_us,
            )
        )
    return tuple(pairs), first_us


def quiet(pairs: Sequence[Pair], plan: TimingPlan) -> Sequence[Pair]:
    """The pairs that were not disturbed; all of them where fewer than two are left."""
    left = [pair for pair in pairs if pair.waiting <= plan.max_waiting]
    return left if len(left) >= 2 else pairs


def summarise(
    all_pairs: Sequence[Pair],
    plan: TimingPlan,
    *,
    timer: str,
    first_call_us: float | None = None,
    eager_over_compile: float | None = None,
    prepare_us: float | None = None,
) -> Timing:
    """What the pairs amount to, credited by our own clock.

    Raises:
        Refused: our clock saw much more than was claimed, in every pair.

    >>> pair = Pair(reference_us=(20.0, 22.0, 21.0), candidate_us=(10.0, 10.5, 11.0))
    >>> summarise([pair, pair], TimingPlan(), timer="wall").speedup
    2.0
    """
    pairs = quiet(all_pairs, plan)
    clocked = [pair for pair in pairs if pair.clock_ratio is not None] or [
        pair for pair in all_pairs if pair.clock_ratio is not None
    ]
    clock = min((pair.clock_ratio or 1.0 for pair in clocked), default=None)
    hidden_us = min((pair.hidden_us for pair in clocked), default=0.0)
    time_us = statistics.median(statistics.median(p.candidate_us) for p in pairs)
    compile_us = statistics.median(statistics.median(p.reference_us) for p in pairs)
    credit = clock if clock is not None and clock > CREDITED and hidden_us > HIDDEN_US else 1.0
    undisturbed = any(pair.waiting <= plan.max_waiting for pair in clocked)
    if credit > REFUSED and undisturbed:
        raise Refused(
            f"The submission's clock shows {time_us:.1f} us a call; the judge's own clock shows "
            f"{hidden_us:.1f} us more. All work must be done when forward returns."
        )
    ratios = [p.ratio / credit for p in pairs]
    low, high = bootstrap_interval(ratios)
    return Timing(
        time_us=time_us * credit,
        compile_us=compile_us,
        speedup=statistics.median(ratios),
        speedup_low=low,
        speedup_high=high,
        num_blocks=len(pairs),
        num_calls=sum(len(p.candidate_us) for p in pairs),
        timer=timer,
        num_disturbed=len(all_pairs) - len(pairs),
        eager_us=None if eager_over_compile is None else eager_over_compile * compile_us,
        first_call_us=first_call_us,
        clock_ratio=clock,
        prepare_us=prepare_us,
    )


def bootstrap_interval(ratios: Sequence[float], *, rounds: int = 400) -> tuple[float, float]:
    """The 95 % percentile interval of the median under resampling; always the same for equal input.

    >>> bootstrap_interval([2.0, 2.0, 2.0])
    (2.0, 2.0)
    """
    generator = random.Random(0)
    medians = sorted(
        statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(rounds)
    )
    cut = round(rounds * 0.025)
    return medians[cut], medians[-1 - cut]


def _probe(reference: ReferenceSide, candidate: CandidateSide) -> tuple[float, float, int]:
    """Microseconds of the very first call, alone; the least of three more; bytes of a call."""
    reference.new_contents(1)
    (first_us,), _ = candidate.run(1)
    reference.run(1)
    reference.check(1)
    content_bytes = reference.new_contents(3)
    again_us, _ = candidate.run(3)
    reference.run(3)
    reference.check(3)
    return first_us, min(again_us), content_bytes


def _known(pairs: Sequence[Pair], plan: TimingPlan, elapsed_s: float) -> bool:
    """Whether to stop: an even number of pairs, so that both sides went first equally often."""
    if len(pairs) < plan.min_pairs or len(pairs) % 2:
        return False
    if len(pairs) >= plan.max_pairs or elapsed_s > plan.max_race_s:
        return True
    ratios = [pair.ratio for pair in quiet(pairs, plan)]
    low, high = bootstrap_interval(ratios)
    enough = sum(pair.waiting <= plan.max_waiting for pair in pairs) >= plan.min_pairs
    return enough and (high - low) / 2 <= plan.wanted_halfwidth * statistics.median(ratios)


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
    clock_ratio, hidden_us = None, 0.0
    if dry:
        _, dry_us = candidate.run(num_candidate, dry=True)
        hidden_us = (wall_us - dry_us - sum(claimed_us)) / num_candidate
        clock_ratio = (wall_us - dry_us) / max(sum(claimed_us), 1e-3)
    return Pair(
        reference_us=tuple(reference_us[dropped:num_reference]),
        candidate_us=tuple(claimed_us[dropped:]),
        clock_ratio=clock_ratio,
        hidden_us=hidden_us,
        waiting=waiting,
    )
