"""Whether a process that was told to stop has stopped, thread by thread.

A thread that is inside the kernel, writing a gigabyte for example, is stopped only on its way back. Until then
it works, though its process was told to stop and has said that it is done.

Covered: all threads, through /proc. Not covered: work that was given to a device.
"""

from __future__ import annotations

import time
from pathlib import Path

from cuda_gym.judge.sandbox.channel import DeadlinePassed

__all__ = ["pid_of", "stopped_at"]

_STOPPED = "TtZX"
"""States of /proc/PID/task/TID/stat: stopped, stopped by a tracer, ended."""


def stopped_at(pidfd: int, deadline: float) -> float:
    """Wait until every thread of a process has stopped that was told to.

    Args:
        pidfd: Of the process.
        deadline: On the clock of `time.monotonic`.

    Returns:
        When the last one stopped; where at the first look all had, when that began.

    Raises:
        DeadlinePassed: some never did.
    """
    now = time.monotonic()
    running = [task for task in _tasks(pidfd) if not _has_stopped(task)]
    while running:
        if (now := time.monotonic()) > deadline:
            raise DeadlinePassed
        time.sleep(20e-6)
        running = [task for task in running if not _has_stopped(task)]
    return now


def pid_of(pidfd: int) -> int:
    """The number of a process; -1 where it is gone.

    Raises:
        OSError: there is no such descriptor, or no /proc.
    """
    told = Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii")
    return int(next(line for line in told.splitlines() if line.startswith("Pid:")).split()[1])


def _tasks(pidfd: int) -> list[Path]:
    """None of a process that is gone."""
    try:
        return list(Path(f"/proc/{pid_of(pidfd)}/task").iterdir())
    except OSError:
        return []


def _has_stopped(task: Path) -> bool:
    """One that is gone has stopped, too."""
    try:
        stat = (task / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in _STOPPED
