"""The judge's side of the memory check: one draw in a checking build, in a candidate of its own.

    build   while the draws of the ordinary build are run: most of the time one core is enough for these
    run     afterwards; the reference's weights are moved by it

Where the draws of the ordinary build were right, the outputs of this one are compared as well: its variables
without a value hold other ones.

Covered: a build or a run that fails or takes too long accuses nobody. Not covered: submissions that
deceive; see `memory_check`.
"""

from __future__ import annotations

import random
import secrets

from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import AgentError
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.match import Match
from cuda_gym.judge.sandbox.memory_runs import MemoryRuns
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.pool import WorkerPool
from cuda_gym.judge.sandbox.unset_values import unset_findings
from cuda_gym.judge.toolchains.kernel_files import kernel_files
from cuda_gym.judge.toolchains.toolchain import Toolchain

__all__ = ["CheckedRuns"]

_CHECKED_BLOCKS = 64
"""Of each launch: neighbours at both ends and in the middle. Every access of a block is looked at."""


class CheckedRuns(MemoryRuns):
    """Runs a checking build, which looks at every access itself."""

    in_every_judgement = True
    looks_itself = True

    def __init__(
        self,
        toolchain: Toolchain,
        pool: WorkerPool,
        lock: DeviceLock,
        *,
        deadlines: Deadlines,
        num_threads: int,
    ) -> None:
        super().__init__(toolchain, lock, deadlines=deadlines, num_threads=num_threads)
        self._pool = pool

    def run(
        self, task: Task, submission: Submission, reference: OpenReference, build: Build
    ) -> tuple[MemoryFinding, ...]:
        """Run one draw in the checking build.

        Raises:
            AgentError: it did not run to its end, though nothing was found.
        """
        return self._look(task, submission, reference, build, compares=False)

    def try_run(
        self, task: Task, submission: Submission, reference: OpenReference, build: Build | None
    ) -> tuple[MemoryFinding, ...] | None:
        """What `run` finds, and whether variables without a value decide outputs; None where there is no end."""
        if build is None:
            return None
        try:
            return self._look(task, submission, reference, build, compares=True)
        except AgentError:
            return None

    def _look(
        self,
        task: Task,
        submission: Submission,
        reference: OpenReference,
        build: Build,
        *,
        compares: bool,
    ) -> tuple[MemoryFinding, ...]:
        with self._lock.shared():
            candidate = self._pool.fork()
            try:
                match = Match(
                    reference.worker,
                    candidate,
                    opened=reference.opened,
                    deadlines=self._deadlines,
                    generator=random.Random(secrets.randbits(64)),
                )
                match.load(
                    task,
                    submission,
                    build,
                    num_threads=self._num_threads,
                    check_blocks=_CHECKED_BLOCKS,
                )
                found = self._toolchain.read_findings(build, match.check_memory())
                if compares and not found:
                    return unset_findings(kernel_files(submission), match.compare())
                return found
            finally:
                candidate.close()
                # A race may follow, and wants all cores to itself.
                candidate.wait_until_gone()
