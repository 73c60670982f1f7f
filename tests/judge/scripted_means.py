"""What a judge has, played by scripts: no process is started, and nothing of a submission runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.errors import CudaGymError, WorkerLost
from cuda_gym.judge.means import Means
from cuda_gym.judge.profiling.timing_plan import GPU_PLAN
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.dismissals import Dismissals
from cuda_gym.judge.sandbox.openings import Openings

CPU = Device.parse("cpu")
NOBODY: Any = None
"""Who is not asked for."""


class ScriptedCandidate:
    """A candidate process that is there at once."""

    printed = isolation = ""
    closes_code = False
    reads_outputs = False

    def __init__(self) -> None:
        self.is_closed = False
        self.is_open = False
        self.loaded = 0
        """How often."""

    def wait_until_open(self) -> None:
        self.is_open = True

    def load(self, message: Any, **_: Any) -> Any:
        self.loaded += 1
        raise WorkerLost(f"The script ends here, at {type(message).__name__}.")

    def wait_until_gone(self) -> None:
        assert self.is_closed

    def close(self) -> None:
        self.is_closed = True


class ScriptedReference:
    """A reference that has opened its task, and ends the script at the first thing asked of it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened: Mapping[str, Any] = {
            "draws": ["ordinary", "spiky"],
            "smallest": "ordinary",
            "init_args": {"list": []},
        }
        self.prepared: list[Any] = []
        self.worker = self

    def prepare(self, draws: Any) -> None:
        self.prepared += draws

    def rest(self) -> None:
        pass

    def call(self, method: str, **_: Any) -> Any:
        raise WorkerLost(f"The script ends here, at {method}.")


class ScriptedPool:
    """Gives these."""

    def __init__(self) -> None:
        self.only_reference: Any = ScriptedReference()
        self.is_idle = True
        self.can_fork_at_once = True
        self.is_broken = False
        self.known_init_args: Any = None
        self.forked: list[ScriptedCandidate] = []

    def fork(self) -> ScriptedCandidate:
        if self.is_broken:
            raise WorkerLost("No process can be started.")
        self.forked.append(ScriptedCandidate())
        return self.forked[-1]

    def init_args(self, task: Task) -> Any:
        del task
        return self.known_init_args

    def idle_reference(self, task: Task) -> Any:
        del task
        idle = self.is_idle and self.only_reference.lock.acquire(blocking=False)
        return self.only_reference if idle else None

    @contextmanager
    def reference(self, task: Task) -> Iterator[Any]:
        del task
        with self.only_reference.lock:
            yield self.only_reference


class LateExecutor(Executor):
    """Begins nothing before it may; nobody waits for its threads when the tests are over."""

    def __init__(self) -> None:
        self.may_begin = threading.Event()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            self.may_begin.wait()
            try:
                future.set_result(fn(*args, **kwargs))
            except CudaGymError as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


class NoChecks:
    """Memory is not checked."""

    in_every_judgement = False


def scripted_means(pool: Any, ahead: Executor, folder: Path) -> Means:
    """The means of a judge whose processes are these."""
    no_checks: Any = NoChecks()
    lock = DeviceLock(CPU, folder)
    return Means(
        device=CPU,
        pool=pool,
        lock=lock,
        openings=Openings(),
        host_work=lock.shared,
        checks=no_checks,
        counts=NOBODY,
        deadlines=Deadlines(),
        plan=GPU_PLAN,
        num_threads=1,
        ahead=ahead,
        dismissals=Dismissals(lock, None),
    )
