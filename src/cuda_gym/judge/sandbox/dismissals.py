"""Ends candidates that are no longer needed: at once, or as soon as nobody is timed.

The memory of a process on a GPU is cleared by the driver when it ends, which takes bandwidth from whoever
is timed just then. So it is frozen, and ended beside other work.
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor

from cuda_gym.judge.sandbox.device_lock import DeviceLock
from cuda_gym.judge.sandbox.workers import CandidateWorker

__all__ = ["Dismissals"]


class Dismissals:
    """Of one judge. Safe to use from several threads.

    Args:
        lock: Of the device.
        ahead: Where what has to wait is waited for; None ends every candidate at once.
    """

    def __init__(self, lock: DeviceLock, ahead: Executor | None) -> None:
        self._device_lock = lock
        self._ahead = ahead
        self._lock = threading.Lock()
        self._leaving: set[CandidateWorker] = set()

    def dismiss(self, candidate: CandidateWorker) -> None:
        """End a candidate; returns at once."""
        if self._ahead is None:
            candidate.close()
            return
        with self._lock:
            self._leaving.add(candidate)
        try:
            self._ahead.submit(self._end, candidate)
        except RuntimeError:  # nothing is begun any more: the judge was closed
            self.close()

    def close(self) -> None:
        """End all that still wait."""
        with self._lock:
            leaving, self._leaving = self._leaving, set()
        for candidate in leaving:
            candidate.close()

    def _end(self, candidate: CandidateWorker) -> None:
        with self._device_lock.shared():
            with self._lock:
                is_due = candidate in self._leaving
                self._leaving.discard(candidate)
            if is_due:
                candidate.close()
                candidate.wait_until_gone()
