"""A race on a device that nobody else uses meanwhile, and once more where its time cannot be true.

Covered: what is needed afterwards is let go of before the next one has the device. Not covered: who is raced, and
how (`sandbox/match.py`).
"""

from __future__ import annotations

import contextlib
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

from cuda_gym.core.findings import Build
from cuda_gym.core.verdict import DeviceRates, Profile, Telemetry, Timing, Work
from cuda_gym.errors import Refused
from cuda_gym.judge.means import Means
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.profiling.nvml import energy_between
from cuda_gym.judge.profiling.roofline import is_below_floor
from cuda_gym.judge.sandbox.background import begun
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.processes import own_processes

__all__ = ["Raced", "race_alone"]


@dataclass(frozen=True, kw_only=True)
class Raced:
    """What a race has shown."""

    timing: Timing
    profile: Profile
    telemetry: Telemetry
    """Of the device, over the race."""


def race_alone(
    means: Means,
    reference: OpenReference,
    match: Match,
    *,
    build: Build,
    prepare_ns: int | None,
    work: Work | None,
) -> Raced:
    """Race a submission whose draws were right.

    Args:
        means: What the judge has.
        reference: Of the task; it rests afterwards.
        match: The submission against it.
        build: What its candidate has loaded.
        prepare_ns: What its `prepare()` took, where there is one.
        work: What the task asks of any submission, where that is known.

    Raises:
        AgentError: the candidate failed, was wrong, or its clock is refused.
        Refused: twice it was faster than the device's memory is.
    """
    with means.lock.exclusive():
        # Meanwhile: a driver that makes contexts for others is slow to tell.
        before = begun(means.ahead, telemetry.read_device, means.device, own_pids=own_processes())
        rates = reference.rates()
        try:
            timing, profile = _race(means, reference, match, build, prepare_ns)
            if _below_floor(timing, reference, rates):
                timing, profile = _race(means, reference, match, build, prepare_ns)
                if why := _below_floor(timing, reference, rates):
                    raise Refused(why)
            over = begun(means.ahead, telemetry.read_device, means.device, own_pids=own_processes())
        finally:
            reference.rest()
    first, last = _told(before), _told(over) or Telemetry()
    return Raced(
        timing=timing,
        profile=replace(profile, work=work, rates=rates),
        telemetry=last if first is None else energy_between(first, last),
    )


def _told(reading: Future[Telemetry] | None) -> Telemetry | None:
    """None of one that was never begun, since the judge is being closed."""
    try:
        return None if reading is None else reading.result()
    except CancelledError:
        return None


def _race(
    means: Means, reference: OpenReference, match: Match, build: Build, prepare_ns: int | None
) -> tuple[Timing, Profile]:
    plan = means.plan
    with contextlib.nullcontext() if plan.num_audits else means.pool.dry() as dry:
        return match.race(dry, plan, reference.baseline, build, prepare_ns=prepare_ns)


def _below_floor(timing: Timing, reference: OpenReference, rates: DeviceRates) -> str | None:
    """Why the time cannot be true, if it cannot."""
    return is_below_floor(
        timing.time_us,
        written_bytes=reference.opened["written_bytes"],
        influential_bytes=reference.opened["influential_bytes"],
        rates=rates,
    )
