"""Judgements that are caught at a certain moment, and the processes that take part in them."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.traces import children
from tests.judge.cpu_cases import CALL, FORWARD, model_with

from cuda_gym.core.findings import Findings
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.judge.judge import Judge

SLOW = model_with(
    f"time.sleep(0.15)\n{FORWARD.strip()}\n{CALL.strip()}\nreturn out", top="import time\n"
)
"""Right; long enough in its draws and in its race to be caught there."""
_PATIENCE_S = 30.0
_LOOK_S = 0.001
"""Between two looks: a candidate is stopped for a few thousandths of a second between its calls."""


def during(
    judge: Judge, task: Task, stage: str, strike: Callable[[], None], *, races: bool
) -> Findings | Verdict:
    """Judge a slow submission, and strike when it has reached a stage: `draws` or `race`."""
    results: list[Findings | Verdict] = []

    def work() -> None:
        results.append(judge.judge(task, SLOW) if races else judge.verify(task, SLOW))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        if stage == "draws":
            wait_for(_InForward(judge))
        else:
            wait_for(lambda: is_racing(judge))
            time.sleep(0.3)
        strike()
    finally:
        thread.join()
    return results[0]


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not reached():
        assert time.monotonic() < deadline, "the judgement never came so far"
        time.sleep(_LOOK_S)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def zygote(judge: Judge) -> int:
    process = judge._pool._zygote
    assert process is not None
    return process._process.pid


def reference(judge: Judge) -> int:
    return next(iter(judge._pool._references.values())).worker._process.pid


def dry(judge: Judge) -> int:
    worker = judge._pool._dry
    assert worker is not None
    return _pid(worker.process.pidfd)


def warden(judge: Judge) -> int:
    """Of the candidate."""
    return next(pid for pid, _ in _candidates(judge))


def candidate(judge: Judge) -> int:
    return next(pid for _, pid in _candidates(judge))


class _InForward:
    """Whether the candidate sleeps in its forward: it was loaded, so it has been stopped, and is not now."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._was_stopped = False
        self._asleep_since: float | None = None

    def __call__(self) -> bool:
        state = next((_state(pid) for _, pid in _candidates(self._judge)), "?")
        self._was_stopped |= state == "T"
        if state != "S" or not self._was_stopped:
            self._asleep_since = None
            return False
        now = time.monotonic()
        self._asleep_since = self._asleep_since or now
        return now - self._asleep_since > 0.1


def is_racing(judge: Judge) -> bool:
    """Whether somebody holds the device for himself."""
    path: Path = judge._lock._device
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _candidates(judge: Judge) -> list[tuple[int, int]]:
    """With the warden of each; the dry one is none."""
    if judge._pool._zygote is None:
        return []
    spare = -1 if judge._pool._dry is None or judge._pool._dry.ended else dry(judge)
    return [
        (warden, pid)
        for warden in children(zygote(judge))
        for pid in children(warden)
        if pid != spare
    ]


def _state(pid: int) -> str:
    """As `ps` shows it; `?` of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "?"


def _pid(pidfd: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
