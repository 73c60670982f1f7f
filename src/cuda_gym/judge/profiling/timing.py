"""What the blocks of a race amount to: a speed-up, its interval, and whose clock to believe.

Each pair of blocks gives one ratio of the fastest tenths (noise only ever adds); the speed-up is the
median of those ratios, and its interval comes from a bootstrap over pairs, not calls (calls of one
block share their luck).

A candidate's clock is a claim. So the judge keeps its own: from handing over the inputs until all
outputs are there and the candidate is frozen. What the same protocol costs without any call is
subtracted, and `dry_tolerance` of it for noise. What then remains, a call, may be `credited` times
what is claimed; beyond that the times are scaled, so that a false clock gains these two and no more:
little for a long call, much for one that is shorter than what handing over costs. `refused` times in every one of several
undisturbed pairs, and the submission is refused. No pair counts for much more than the best that has a dry run.

A pair during which threads had to wait for a core is disturbed: with two threads and a barrier, a
neighbour turns 1 ms into 9. Disturbed pairs are left out. Where fewer than two are quiet,
torch.compile's time is at most the best that was ever seen, and nobody is refused.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cuda_gym.core.verdict import Timing
from cuda_gym.errors import Refused
from cuda_gym.judge.profiling.audits import Audit, believed_us, clock_ratio_of
from cuda_gym.judge.profiling.pairs import (
    Pair,
    clears,
    clock_ratios,
    fastest_tenth,
    is_cleared,
    looked_at,
    quiet,
)
from cuda_gym.judge.profiling.timing_plan import TimingPlan

_MOST_DISTURBANCE = 2.0
"""Measured with eight processes on two cores: honest calls of 30 us took 2 to 4 times what counts, a reference of two
threads 1 to 6 times. A false clock gains as much there, so no more is let pass."""
_ACCUSED_US = 30.0
"""Nobody is refused for less a call: what a process is slowed by that has lain still may be as much."""
_NOISE = 1.1
"""Measured on two shared cores: pairs of one race vary by 12 %, their median much less."""


def summarise(
    all_pairs: Sequence[Pair],
    plan: TimingPlan,
    *,
    timer: str,
    audits: Sequence[Audit] = (),
    host_us: float | None = None,
    first_call_us: float | None = None,
    best_compile_us: float | None = None,
    eager_over_compile: float | None = None,
    prepare_us: float | None = None,
) -> Timing:
    """What the pairs amount to, credited by our own clock.

    Args:
        all_pairs: of one race.
        plan: what it was raced with.
        timer: name of the clock.
        audits: what our own clock has timed beside the pairs.
        host_us: how long a call keeps the host, where that is not its time.
        first_call_us: claimed for the very first call.
        best_compile_us: the best time of torch.compile that was ever seen on this machine.
        eager_over_compile: eager's time over that of torch.compile.
        prepare_us: time of `prepare()`.

    Raises:
        Refused: our clock saw much more than was claimed, in every undisturbed pair.

    >>> pair = Pair(reference_us=(20.0, 22.0, 21.0), candidate_us=(10.0, 10.5, 11.0))
    >>> summarise([pair, pair], TimingPlan(), timer="wall").speedup
    2.0
    """
    steady = len(quiet(all_pairs, plan)) >= 2
    if not steady and plan.compares_best_walls:
        plan = replace(plan, credited=plan.credited * _disturbance(all_pairs))
    all_pairs = _with_reference_believed(all_pairs, plan, best_compile_us, steady=steady)
    paid = _paid(all_pairs, plan, audits, steady=steady)
    compile_us = statistics.median(fastest_tenth(p.reference_us) for p in paid.pairs)
    low, high = bootstrap_interval(paid.ratios)
    return Timing(
        time_us=paid.time_us,
        compile_us=compile_us,
        speedup=statistics.median(paid.ratios),
        speedup_low=low,
        speedup_high=high,
        num_blocks=len(paid.pairs),
        num_calls=sum(len(p.candidate_us) for p in paid.pairs),
        timer=timer,
        host_us=host_us,
        num_disturbed=len(all_pairs) - len(quiet(all_pairs, plan)),
        steady=steady,
        eager_us=None if eager_over_compile is None else eager_over_compile * compile_us,
        first_call_us=first_call_us,
        clock_ratio=paid.clock_ratio,
        prepare_us=prepare_us,
    )


@dataclass(frozen=True, kw_only=True)
class _Paid:
    """What of a race is paid."""

    pairs: Sequence[Pair]
    """Those that count, no call of them shorter than it can have been."""
    credit: float
    """What claims are scaled by."""
    most_ratio: float
    """What no pair counts for more than."""
    clock_ratio: float | None
    """Our own clock over the claims; None where it has looked at nothing."""

    @property
    def ratios(self) -> list[float]:
        """What each pair counts for."""
        return [min(pair.ratio / self.credit, self.most_ratio) for pair in self.pairs]

    @property
    def time_us(self) -> float:
        """The time of a call that the speed-up stands for."""
        return statistics.median(
            max(
                fastest_tenth(pair.candidate_us) * self.credit,
                fastest_tenth(pair.reference_us) / self.most_ratio,
            )
            for pair in self.pairs
        )


def _paid(
    all_pairs: Sequence[Pair], plan: TimingPlan, audits: Sequence[Audit], *, steady: bool
) -> _Paid:
    """See `summarise`."""
    pairs = quiet(all_pairs, plan) if steady else all_pairs
    time_us = statistics.median(fastest_tenth(p.candidate_us) for p in pairs)
    audited = clock_ratio_of(audits, plan, time_us)
    least_us = believed_us(audits, plan)
    clock, credit = _credit(all_pairs, plan, time_us)
    return _Paid(
        pairs=[pair.with_candidate_at_least(least_us) for pair in pairs],
        credit=credit,
        most_ratio=_most_ratio(all_pairs, plan),
        clock_ratio=clock if audited is None else audited,
    )


def _with_reference_believed(
    pairs: Sequence[Pair], plan: TimingPlan, best_compile_us: float | None, *, steady: bool
) -> Sequence[Pair]:
    """The pairs, with no call of torch.compile longer than is believed of it."""
    if best_compile_us is None:
        return pairs
    most_us = plan.most_reference * best_compile_us + plan.hidden_us
    most_us = most_us if steady else best_compile_us
    return [pair.with_reference_at_most(most_us) for pair in pairs]


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


def _disturbance(pairs: Sequence[Pair]) -> float:
    """How much slower a call is, at the best, than the one that counts, on a machine that others use.

    Told by the reference, which is trusted, in blocks of as many calls; a submission that has the cores busy
    by itself is frozen meanwhile.
    """
    blocks = [pair.reference_us for pair in pairs if pair.protocol_us is not None]
    seen = min((statistics.mean(us) / fastest_tenth(us) for us in blocks), default=1.0)
    return min(seen, _MOST_DISTURBANCE)


def _most_ratio(pairs: Sequence[Pair], plan: TimingPlan) -> float:
    """What no pair may count for more than: the best of those that our clock has cleared, and a tenth for noise.

    Where it has cleared none, the best of those that it has looked at, as it saw them.
    """
    looked = looked_at(pairs, plan)
    cleared = [pair.ratio for pair, work_us in looked if clears(pair, work_us, plan)]
    seen = [
        pair.ratio / max(1.0, clock / plan.credited)
        for (pair, _), clock in zip(looked, clock_ratios(pairs, plan), strict=True)
    ]
    return max(cleared or seen, default=math.inf) * _NOISE


def _credit(pairs: Sequence[Pair], plan: TimingPlan, time_us: float) -> tuple[float | None, float]:
    """Our clock over the claims, and what the times are scaled by.

    The least of all pairs counts: whatever disturbs us adds to our clock only.
    """
    ratios = clock_ratios(pairs, plan)
    if not ratios:
        return None, 1.0
    clock = min(ratios)
    if is_cleared(pairs, plan):
        return clock, 1.0
    seen = [
        work_us
        - max(plan.refused * pair.claimed_us, pair.claimed_us + _ACCUSED_US * pair.num_calls)
        for pair, work_us in looked_at(quiet(pairs, plan), plan)
    ]
    if len(seen) >= max(2, plan.min_pairs // 2) and min(seen) > 0.0:
        raise Refused(
            f"The submission's clock shows {time_us:.1f} us a call; in {len(seen)} runs the judge's "
            f"own clock showed at least {clock * time_us:.1f} us. All work must be done when forward "
            "returns."
        )
    return clock, clock / plan.credited
