"""What every memory check has in common: its build is made beside the draws, and it accuses nobody by failing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import ClassVar

from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import AgentError, CandidateTimeout, CompileError
from cuda_gym.judge.sandbox.background import Background
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.toolchains.toolchain import Toolchain

__all__ = ["MemoryRuns"]


class MemoryRuns(ABC):
    """Checks the memory of submissions on one device. Safe to use from several threads.

    Args:
        toolchain: What builds them.
        lock: Of the device.
        deadlines: For builds and runs.
        num_threads: As in the run that is judged.
    """

    in_every_judgement: ClassVar[bool]
    """Whether a run costs so little that every judgement has one."""
    looks_itself: ClassVar[bool]
    """Whether the build looks for stray accesses while it runs; or else a tool that runs it."""

    def __init__(
        self, toolchain: Toolchain, lock: DeviceLock, *, deadlines: Deadlines, num_threads: int
    ) -> None:
        self._toolchain = toolchain
        self._lock = lock
        self._deadlines = deadlines
        self._num_threads = num_threads
        self._builds = Background("build to be checked", most_at_once=2)

    @abstractmethod
    def run(
        self, task: Task, submission: Submission, reference: OpenReference, build: Build
    ) -> tuple[MemoryFinding, ...]:
        """Run one draw, and look.

        Raises:
            UnsupportedOnDevice: it cannot be looked at here.
            AgentError: it did not run to its end, though nothing was found.
        """

    def build(self, submission: Submission) -> Future[Build | None]:
        """What `run` needs; None where there is none, though the ordinary one was built."""
        return self._builds.submit(self._build, submission)

    def try_run(
        self, task: Task, submission: Submission, reference: OpenReference, build: Build | None
    ) -> tuple[MemoryFinding, ...] | None:
        """What `run` finds; None where there is no build, or no end: that accuses nobody."""
        if build is None:
            return None
        try:
            return self.run(task, submission, reference, build)
        except AgentError:
            return None

    def close(self) -> None:
        """Take no more builds."""
        self._builds.shutdown(wait=False, cancel_futures=True)

    def _build(self, submission: Submission) -> Build | None:
        try:
            with self._lock.shared():
                return self._toolchain.build(
                    submission, deadline_s=self._deadlines.build_s, checking=self.looks_itself
                )
        except (CompileError, CandidateTimeout):
            return None
