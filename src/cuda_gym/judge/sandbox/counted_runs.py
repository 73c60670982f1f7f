"""The judge's side of hardware counters: one call of a right submission under Nsight Compute.

Covered: where counters are not there, not allowed or fail, a reason and a remedy take their place; a
metric that this version does not know is left out, once. Not covered: whether what the submission's
process had counted is true: it is shown, and decides nothing.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
from dataclasses import replace
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build
from cuda_gym.core.kernel_counters import KernelCounters
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Profile
from cuda_gym.errors import AgentError, WorkerLost
from cuda_gym.judge.profiling.counters import (
    AS_ADMIN,
    counters_command,
    explain_refusal,
    find_ncu,
    read_counters,
    unknown_metrics,
    why_no_counters,
)
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.tool_run import ToolFailed, ToolRun

__all__ = ["CountedRuns"]

_START_S = 60.0
_RUN_S = 60.0
_FINISH_S = 30.0
_LIFETIME_S = 300


class CountedRuns:
    """Counts on one device. Safe to use from several threads."""

    def __init__(
        self, device: Device, lock: DeviceLock, *, deadlines: Deadlines, num_threads: int
    ) -> None:
        self._device = device
        self._lock = lock
        self._deadlines = replace(deadlines, load_s=_RUN_S, run_s=_RUN_S)
        self._num_threads = num_threads

    def add_to(
        self,
        profile: Profile,
        task: Task,
        submission: Submission,
        reference: OpenReference,
        build: Build,
    ) -> Profile:
        """The same profile with counters, or with why there are none."""
        if self._device.kind != "cuda":
            return replace(profile, no_counters=f"The device {self._device} offers no counters")
        ncu = find_ncu()
        why = why_no_counters()
        if ncu is None or why:
            return replace(profile, no_counters=why)
        said = ""
        for _ in range(2):
            try:
                said = self._run(ncu, unknown_metrics(said), task, submission, reference, build)
            except ToolFailed as error:
                said = error.said or f"==ERROR== {error}"
            except (AgentError, WorkerLost) as error:
                return replace(profile, no_counters=f"Nsight Compute gave no counters: {error}")
            if counters := _of(build, read_counters(said)):
                return replace(profile, counters=counters)
            if not unknown_metrics(said):
                break
        return replace(profile, no_counters=explain_refusal(said))

    def _run(
        self,
        ncu: Path,
        without: tuple[str, ...],
        task: Task,
        submission: Submission,
        reference: OpenReference,
        build: Build,
    ) -> str:
        """The log of one call.

        Raises:
            ToolFailed: Nsight Compute did not start it.
            AgentError: the submission failed, and not for what Nsight Compute did.
        """
        kernels = [kernel.name for kernel in build.kernels]
        run = ToolRun(
            lambda log: counters_command(ncu, log, kernels, without=without),
            device=self._device,
            lifetime_s=_LIFETIME_S,
            keeps_rights=os.environ.get(AS_ADMIN) == "1",
        )
        trouble: AgentError | None = None
        with contextlib.closing(run):
            with self._lock.shared():
                candidate = run.candidate(deadline_s=_START_S)
            with self._lock.exclusive():
                try:
                    match = Match(
                        reference.worker,
                        candidate,
                        opened=reference.opened,
                        deadlines=self._deadlines,
                        generator=random.Random(secrets.randbits(64)),
                    )
                    match.load(task, submission, build, num_threads=self._num_threads)
                    match.call_once(smallest=False)
                except AgentError as error:
                    trouble = error
                said = run.finish(deadline_s=_FINISH_S)
        if trouble is not None and "==ERROR==" not in said:
            raise trouble
        return said


def _of(build: Build, counters: tuple[KernelCounters, ...]) -> tuple[KernelCounters, ...]:
    """The kernels of the build, where their names are known; with the names that it has."""
    if not build.kernels:
        return counters
    names = {_base(kernel.name): kernel.name for kernel in build.kernels}
    many = len(names) < len(build.kernels)  # several instances of one template
    return tuple(
        counted if many else replace(counted, name=names[_base(counted.name)])
        for counted in counters
        if _base(counted.name) in names
    )


def _base(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]
