"""The processes that a judge keeps: one zygote, and a few references, the latest used ones.

What is lost is started again at the next use; whoever was using it gets a `WorkerLost`.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import DeviceRates, Work
from cuda_gym.errors import AgentError, MachineError, TaskError, WorkerLost
from cuda_gym.judge.profiling.baselines import Baseline
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.draw_plan import PlannedDraw
from cuda_gym.judge.sandbox.messages import (
    Tree,
)
from cuda_gym.judge.sandbox.reference_worker import ReferenceWorker
from cuda_gym.judge.sandbox.workers import CandidateWorker
from cuda_gym.judge.sandbox.zygote_worker import ZygoteWorker
from cuda_gym.judge.toolchains.build_cache import cache_root


@dataclass(frozen=True, kw_only=True)
class DeviceMemory:
    """In bytes."""

    free: int
    """What the reference could still take."""
    total: int


class OpenReference:
    """A reference process and what it said when it opened its task. Used by one thread at a time."""

    def __init__(
        self,
        task: Task,
        *,
        device: Device,
        own_kernels: str,
        num_threads: int,
        folder: Path,
        deadlines: Deadlines,
    ) -> None:
        self._own_kernels = own_kernels
        self._task = task
        self._device = device
        self._num_threads = num_threads
        self._folder = folder
        self._deadlines = deadlines
        self._opened: Mapping[str, Tree] | None = None
        self.lock = threading.Lock()
        self.users = 0
        """Threads that hold it or wait for it; guarded by the pool."""
        self.worker = ReferenceWorker()

    @property
    def opened(self) -> Mapping[str, Tree]:
        """What it said: constructor arguments, kinds of draws, free dimensions.

        A process that the machine has kept from opening it is ended: the next one begins anew.
        """
        if self._opened is None:
            try:
                self._opened = self._open()
            except MachineError:
                self.worker.close()
                raise
        return self._opened

    @property
    def is_open(self) -> bool:
        """Whether it has opened its task."""
        return self._opened is not None

    def prepare(self, draws: Sequence[PlannedDraw]) -> None:
        """Let it make draws ahead, as many as memory bears.

        Raises:
            WorkerLost: the process is gone.
        """
        assert self.opened
        self.worker.call(
            "prepare",
            deadline_s=self._deadlines.reference_s,
            draws=[{"weights": d.weights, "kind": d.kind, "seed": d.seed} for d in draws],
        )

    def rest(self) -> None:
        """Let it give back memory that it holds for what is over."""
        if not self.is_open:
            return
        with contextlib.suppress(TaskError, MachineError):
            self.worker.call("rest", deadline_s=self._deadlines.reference_s)

    def probe(self) -> DeviceMemory | None:
        """Use the device, and tell of its memory, where it was opened and somebody counts it.

        A process that cannot use it any more is ended; the next one begins anew.

        Raises:
            WorkerLost: it cannot be used, or the process is gone.
        """
        if not self.is_open:
            return None
        try:
            plain, _ = self.worker.call("probe", deadline_s=self._deadlines.run_s)
        except (TaskError, MachineError) as error:
            self.worker.close()
            raise WorkerLost(f"The device does not work any more: {error}") from error
        free, total = plain["free_bytes"], plain["total_bytes"]
        return None if free is None or total is None else DeviceMemory(free=free, total=total)

    def baseline(self) -> Baseline:
        """The best times ever of eager and torch.compile; the first use compiles the reference.

        Raises:
            TaskError: there is no baseline for this task.
            WorkerLost: the process is gone.
        """
        assert self.opened
        plain, _ = self.worker.call("baseline", deadline_s=self._deadlines.open_s)
        baseline = Baseline.from_plain(plain)
        if baseline is None:
            raise WorkerLost("The reference told no times of its baselines.")
        return baseline

    def rehearse(self, count: int, *, contents_bytes: int) -> None:
        """Find out what a sealed block of `count` calls takes without them; once for a task and a machine.

        Raises:
            WorkerLost: the process is gone.
        """
        deadline_s = self._deadlines.open_s
        self.worker.call(
            "rehearse", deadline_s=deadline_s, count=count, contents_bytes=contents_bytes
        )

    def work(self) -> Work | None:
        """What the task asks of any submission in one call; None where that cannot be found out.

        Raises:
            WorkerLost: the process is gone.
        """
        assert self.opened
        plain, _ = self.worker.call("work", deadline_s=self._deadlines.open_s)
        return None if plain is None else Work(**plain)

    def rates(self) -> DeviceRates:
        """The most that the machine can do; the first use takes a moment of it.

        Raises:
            WorkerLost: the process is gone.
        """
        assert self.opened
        plain, _ = self.worker.call("rates", deadline_s=self._deadlines.open_s)
        return DeviceRates(**plain)

    def _open(self) -> Mapping[str, Tree]:
        opened: Mapping[str, Tree]
        opened, _ = self.worker.call(
            "open",
            deadline_s=self._deadlines.open_s,
            task={
                "id": self._task.id,
                "title": self._task.title,
                "source": self._task.source,
                "library": list(self._task.library),
                "allow_tf32": self._task.allow_tf32,
            },
            device=str(self._device),
            num_threads=self._num_threads,
            folder=str(self._folder),
            own_kernels=self._own_kernels,
        )
        return opened


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
        self._zygote: ZygoteWorker | None = None
        self._dry: CandidateWorker | None = None
        self._references: OrderedDict[str, OpenReference] = OrderedDict()

    @property
    def torch(self) -> str:
        """Version of torch that submissions see; empty before the first fork."""
        return self._zygote.torch if self._zygote is not None else ""

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
        """End all processes; safe to call twice."""
        with self._lock:
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
        with self._lock:
            if self._zygote is not None and self._zygote.lost:
                self._zygote.close()
                if self._dry is not None:
                    self._dry.close()
                self._zygote = self._dry = None
            if self._zygote is None:
                self._zygote = ZygoteWorker()
            return self._zygote
