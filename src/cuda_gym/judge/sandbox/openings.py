"""Lets processes open the device a few at a time.

A driver makes one context after the other, whoever asks: of sixteen processes that begin together all are
late, and nothing can be judged until then. In turns the first is there soonest, and the last no later.

Nobody who is timed keeps them waiting: to make contexts is what a driver does most of the time where many are judged, and
held back it would be all that it does. What they disturb is told apart. Measured on an H200 beside one such
process after the other, each ended at once: of ten sealed blocks of 2.5 us a call one showed 8.2 us, the others 2.3 to 2.6;
beside three at once every second one showed 180 to 1,140 us; the claims, medians of many calls, stayed what they were. So a
block that shows more than is claimed is taken again (`profiling/audits.further_audits`).

Covered: the processes of one judge. Not covered: how many other judges on the same device begin at once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

__all__ = ["Openings"]

_MOST_AT_ONCE = 2


class Openings:
    """Of one judge. Safe to use from several threads."""

    def __init__(self) -> None:
        self._turns = threading.Semaphore(_MOST_AT_ONCE)

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Held while a process opens the device."""
        with self._turns:
            yield
