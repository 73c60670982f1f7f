"""The processes that a judge keeps: one zygote, and a few references, the latest used ones.

What is lost is started again at the next use; whoever was using it gets a `WorkerLost`.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.errors import AgentError, MachineError, WorkerLost
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.messages import (
    Tree,
)
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.workers import CandidateWorker
from cuda_gym.judge.sandbox.zygote_worker import ZygoteWorker
from cuda_gym.judge.toolchains.build_cache import cache_root


class WorkerPool:
    """Starts, keeps and ends the processes of one judge. Safe to use from several threads."""

    def __init__(
        self,
        device: Device,
        *,
        num_threads: int,
        memory_bytes: int,
        max_references: int,
        folder: Path | None,
        deadlines: Deadlines,
        own_kernels: Callable[[], str] = str,
    ) -> None:
        """Start nothing yet.

        Args:
            device: Of all processes.
            num_threads: Of both sides of a race.
            memory_bytes: What a candidate may take beyond what it is born with.
            max_references: How many references are kept.
            folder: Where these remember things; None is the user's.
            deadlines: For each answer.
            own_kernels: Gives the path of what the judge itself runs on the device, when it is first needed.
        """
        self._find_own_kernels = own_kernels
        self._device = device
        self._num_threads = num_threads
        self._memory_bytes = memory_bytes
        self._max_references = max_references
        self._folder = folder or cache_root()
        self._deadlines = deadlines
        self._lock = threading.Lock()
        self._is_closed = False
        self._zygote: ZygoteWorker | None = None
        self._dry: CandidateWorker | None = None
        self._references: OrderedDict[str, OpenReference] = OrderedDict()

    @property
    def torch(self) -> str:
        """Version of torch that submissions see; empty before the first fork."""
        return self._zygote.torch if self._zygote is not None else ""

    @property
    def closes_code(self) -> bool:
        """Whether submissions here cannot run what computes for torch; false before the first fork."""
        zygote = self._zygote
        return self._device.kind == "cpu" and zygote is not None and zygote.closes_code

    @property
    def reads_outputs(self) -> bool:
        """Whether outputs of timed calls are read from outside; false before the first fork."""
        zygote = self._zygote
        return zygote is not None and zygote.reads_outputs

    def start(self) -> None:
        """Start the zygote, without waiting for it."""
        self._living_zygote()

    def fork(self) -> CandidateWorker:
        """A new candidate process; the caller closes it.

        Raises:
            WorkerLost: none could be started.
        """
        return self._fork(self._living_zygote())

    @property
    def can_fork_at_once(self) -> bool:
        """Whether the zygote has imported everything."""
        with self._lock:
            return self._zygote is not None and self._zygote.is_ready

    def init_args(self, task: Task) -> Tree | None:
        """What a model of a task is constructed with; None where no reference has opened it yet."""
        with self._lock:
            entry = self._references.get(task.hash)
        return None if entry is None or not entry.is_open else entry.opened["init_args"]

    def idle_reference(self, task: Task) -> OpenReference | None:
        """The reference of a task that has opened it already, for this thread alone, if nobody has it.

        The caller releases its `lock`.
        """
        with self._lock:
            entry = self._references.get(task.hash)
            if entry is None or entry.users or not entry.is_open or entry.worker.lost:
                return None
            return entry if entry.lock.acquire(blocking=False) else None

    @contextlib.contextmanager
    def dry(self) -> Iterator[CandidateWorker]:
        """A candidate process that never loads anything; used by one thread at a time.

        However the race ends, it keeps no region of it: another reference gives its own the same numbers.
        """
        zygote = self._living_zygote()
        with self._lock:
            if self._dry is not None and self._dry.ended:
                self._dry.close()
                self._dry = None
            if self._dry is None:
                self._dry = self._fork(zygote)
            dry = self._dry
        try:
            yield dry
        finally:
            try:
                dry.rest(deadline_s=self._deadlines.run_s)
            except (AgentError, MachineError):
                dry.close()  # the next race gets another one

    @contextlib.contextmanager
    def reference(self, task: Task) -> Iterator[OpenReference]:
        """The reference of a task, for this thread alone; it is opened at its first use."""
        with self._lock:
            entry = self._references.pop(task.hash, None)
            leaving = [] if entry is None or not entry.worker.lost else [entry]
            if entry is None or leaving:
                entry = OpenReference(
                    task,
                    device=self._device,
                    own_kernels=self._own_kernels,
                    num_threads=self._num_threads,
                    folder=self._folder,
                    deadlines=self._deadlines,
                )
            self._references[task.hash] = entry
            entry.users += 1
            leaving += self._surplus()
        for other in leaving:
            other.worker.close()
        try:
            with entry.lock:
                yield entry
        finally:
            with self._lock:
                entry.users -= 1

    def close(self) -> None:
        """End all processes, and start no candidate any more; safe to call twice."""
        with self._lock:
            self._is_closed = True
            entries, self._references = list(self._references.values()), OrderedDict()
            zygote, self._zygote, dry, self._dry = self._zygote, None, self._dry, None
        if dry is not None:
            dry.close()
        for entry in entries:
            entry.worker.close()
        if zygote is not None:
            zygote.close()

    @cached_property
    def _own_kernels(self) -> str:
        return self._find_own_kernels()

    def _fork(self, zygote: ZygoteWorker) -> CandidateWorker:
        return zygote.fork(
            self._device, own_kernels=self._own_kernels, memory_bytes=self._memory_bytes
        )

    def _surplus(self) -> list[OpenReference]:
        """Take out what is too many and idle, the least recently used first."""
        idle = [key for key, entry in self._references.items() if entry.users == 0]
        surplus = max(0, len(self._references) - self._max_references)
        return [self._references.pop(key) for key in idle[:surplus]]

    def _living_zygote(self) -> ZygoteWorker:
        """The zygote, started anew where it was lost.

        Raises:
            WorkerLost: the judge was closed.
        """
        with self._lock:
            if self._is_closed:  # what was begun before may ask for one now
                raise WorkerLost("The judge was closed.")
            if self._zygote is not None and self._zygote.lost:
                self._zygote.close()
                if self._dry is not None:
                    self._dry.close()
                self._zygote = self._dry = None
            if self._zygote is None:
                self._zygote = ZygoteWorker()
            return self._zygote
