"""What a judge has to try submissions with."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass

from cuda_gym.core.device import Device
from cuda_gym.judge.profiling.timing_plan import TimingPlan
from cuda_gym.judge.sandbox.counted_runs import CountedRuns
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.dismissals import Dismissals
from cuda_gym.judge.sandbox.memory_runs import MemoryRuns
from cuda_gym.judge.sandbox.openings import Openings
from cuda_gym.judge.sandbox.pool import WorkerPool

__all__ = ["Means"]


@dataclass(frozen=True, kw_only=True)
class Means:
    """Of one judge; shared by all its attempts."""

    device: Device
    pool: WorkerPool
    lock: DeviceLock
    openings: Openings
    """Held while a process opens the device."""
    host_work: Callable[[], AbstractContextManager[None]]
    """Held while the host works: the device's lock where it is the host itself, or nothing."""
    checks: MemoryRuns
    counts: CountedRuns
    deadlines: Deadlines
    plan: TimingPlan
    num_threads: int
    ahead: Executor
    """Runs what is begun while something else is waited for."""
    dismissals: Dismissals
