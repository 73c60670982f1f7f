"""Lets processes open the device: a few at a time, and while nobody is timed.

A driver makes one context after the other, whoever asks: of sixteen processes that begin together all are
late, and nothing can be judged until then. In turns the first is there soonest, and the last no later.

Who is timed meanwhile is disturbed. Measured on an H200 beside processes that came and went: sealed blocks of 2.5 us
a call showed 8 to 1,140 us, one in two where three came at once.

Covered: the processes of one judge. Not covered: how many other judges on the same device begin at once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from cuda_gym.judge.sandbox.device_lock import DeviceLock

__all__ = ["Openings"]

_MOST_AT_ONCE = 2


class Openings:
    """Of one judge. Safe to use from several threads.

    Args:
        lock: Of the device.
    """

    def __init__(self, lock: DeviceLock) -> None:
        self._device_lock = lock
        self._turns = threading.Semaphore(_MOST_AT_ONCE)

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Held while a process opens the device."""
        with self._turns, self._device_lock.shared():
            yield
