"""How long each kernel takes, by an event before and after each launch, while somebody asks.

Covered: any streams; launches that are being captured are counted without a time. Not covered: what
runs beside a kernel on another stream is part of its time.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_driver import Driver
from cuda_gym.judge.toolchains.kernel_runtime import LaunchedKernel

__all__ = ["LaunchClock"]

_MOST_LAUNCHES = 4096
"""Beyond these, launches are counted without being timed."""
_EMPTY_PAIRS = 8
_Extent = tuple[int, int, int]


@dataclass
class _Timed:
    name: str
    grid: _Extent
    block: _Extent
    stream: int
    start: int
    stop: int
    taken_ns: int = 0


class LaunchClock:
    """The times of launches of one process."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._timed: list[_Timed] = []
        self._num_untimed = 0
        self._events: list[int] = []
        self.is_on = False

    def start(self, on: bool) -> None:
        """Forget what was noted, and note from now on, or no longer."""
        for timed in self._timed:
            self._events += [timed.start, timed.stop]
        self._timed.clear()
        self._num_untimed = 0
        self.is_on = on

    def before(self, name: str, grid: _Extent, block: _Extent, stream: int) -> bool:
        """Note a launch that is about to be made; whether it is timed."""
        if len(self._timed) == _MOST_LAUNCHES:
            self._num_untimed += 1
            return False
        if self._is_captured(stream):
            return False
        start, stop = self._event(), self._event()
        if self._driver["cuEventRecord"](start, stream):  # the launch will meet the same error
            self._events += [start, stop]
            return False
        self._timed.append(_Timed(name, grid, block, stream, start, stop))
        return True

    def after(self, was_launched: bool) -> None:
        """The launch that was noted last is made, or was refused."""
        timed = self._timed[-1]
        if was_launched:
            self._driver["cuEventRecord"](timed.stop, timed.stream)
        else:
            self._timed.pop()
            self._events += [timed.start, timed.stop]

    def read(self) -> tuple[LaunchedKernel, ...]:
        """The kernels in the order of their first launches; waits for them."""
        if not self._timed:
            return ()
        for timed in self._timed:
            timed.taken_ns = self._between(timed.start, timed.stop)
        # What a pair takes by itself: about 3 us on an H200, as much as a small kernel.
        empty_ns = self._empty_pair_ns(self._timed[0].stream)
        # What was not timed took as long as what was.
        share = 1 + self._num_untimed / len(self._timed)
        by_name: dict[str, list[_Timed]] = defaultdict(list)
        for timed in self._timed:
            timed.taken_ns = max(0, timed.taken_ns - empty_ns)
            by_name[timed.name].append(timed)
        return tuple(_told(name, launches, share) for name, launches in by_name.items())

    def _is_captured(self, stream: int) -> bool:
        """Whether it is, or cannot be asked: as the default stream while another is captured."""
        status = ctypes.c_int()
        return bool(
            self._driver["cuStreamIsCapturing"](stream, ctypes.byref(status)) or status.value
        )

    def _event(self) -> int:
        return self._events.pop() if self._events else self._driver.pointer("cuEventCreate", 0)

    def _between(self, start: int, stop: int) -> int:
        milliseconds = ctypes.c_float()
        driver = self._driver
        if driver["cuEventSynchronize"](stop) or driver["cuEventElapsedTime"](
            ctypes.byref(milliseconds), start, stop
        ):
            return 0
        return round(milliseconds.value * 1e6)

    def _empty_pair_ns(self, stream: int) -> int:
        start, stop = self._event(), self._event()
        taken = []
        for _ in range(_EMPTY_PAIRS):
            self._driver["cuEventRecord"](start, stream)
            self._driver["cuEventRecord"](stop, stream)
            taken.append(self._between(start, stop))
        self._events += [start, stop]
        return min(taken)


def _told(name: str, launches: list[_Timed], share: float) -> LaunchedKernel:
    longest = max(launches, key=lambda timed: timed.taken_ns)
    return LaunchedKernel(
        name=name,
        launches=int(len(launches) * share),
        total_ns=int(sum(timed.taken_ns for timed in launches) * share),
        grid=longest.grid,
        block=longest.block,
    )
