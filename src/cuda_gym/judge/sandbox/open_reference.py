"""A reference process that has a task to open, and what the judge asks of it by itself.

Covered: one that the machine has kept from opening its task, or from using the device, is not used again. Not
covered: what a match asks of it (`match`, `blocks`), and how long it is kept (`pool`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import DeviceRates, Work
from cuda_gym.errors import MachineError, TaskError, WorkerLost
from cuda_gym.judge.profiling.baselines import Baseline
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.draw_plan import PlannedDraw
from cuda_gym.judge.sandbox.messages import (
    Tree,
)
from cuda_gym.judge.sandbox.reference_worker import ReferenceWorker

__all__ = ["DeviceMemory", "OpenReference"]


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
