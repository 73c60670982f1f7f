"""How long a process has kept cores busy, by the kernel's own account, and how long that would take on as many as it may use.

A submission may start threads beside those of its kernels. On a machine with more cores than a race gives to each
side they would be worth more than the reference has.

Covered: all its threads, those that have ended, too. Not covered: work for it in the kernel's own threads.
"""

from __future__ import annotations

import time

from cuda_gym.judge.sandbox.freezing import pid_of

__all__ = ["CoreTime"]

_OF_ALL_THREADS = 2
"""CPUCLOCK_SCHED: of a whole process, in nanoseconds."""


class CoreTime:
    """Of one process.

    Args:
        pidfd: Of it.
    """

    def __init__(self, pidfd: int) -> None:
        self._clock = _clock_of(pidfd)
        self.most: int | None = None
        """Cores that it may use at the same time; None where nobody has said so."""

    def taken_s(self) -> float:
        """Since it was born, on all cores together; 0 where nobody knows."""
        if self._clock is None or self.most is None:
            return 0.0
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # it is gone
            return 0.0

    def wall_s(self, since_s: float) -> float:
        """How long what it took since then would take on as many cores as it may use.

        Args:
            since_s: What `taken_s` said.
        """
        return max(0.0, self.taken_s() - since_s) / (self.most or 1)


def _clock_of(pidfd: int) -> int | None:
    """The number of the clock of a process, as `clock_getcpuclockid` makes it."""
    try:
        pid = pid_of(pidfd)
    except OSError:
        return None
    return (~pid << 3) | _OF_ALL_THREADS if pid > 0 else None
