"""Lets processes open the device: a few at a time, and where that disturbs, beside other work only.

A driver makes one context after the other, whoever asks: of sixteen processes that begin together all are
late, and nothing can be judged until then. In turns the first is there soonest, and the last no later.

Covered: the processes of one judge. Not covered: other judges on the same device.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from cuda_gym.judge.sandbox.device_lock import DeviceLock

__all__ = ["Openings"]


class Openings:
    """Of one judge. Safe to use from several threads.

    Args:
        lock: Of the device; None where whoever is timed on it is not disturbed.
    """

    def __init__(self, lock: DeviceLock | None) -> None:
        self._device_lock = lock
        self._turns = threading.Semaphore(_MOST_AT_ONCE)

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Held while a process opens the device."""
        with self._turns:
            if self._device_lock is None:
                yield
            else:
                with self._device_lock.shared():
                    yield


_MOST_AT_ONCE = 2
