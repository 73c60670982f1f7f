"""A submission's library for a GPU as a candidate process sees it: load it, count launches, take errors.

The library is linked with the recorder of `cuda_runtime_library`, which stands between the
submission and the CUDA runtime.

Covered: launches by `<<<...>>>`, by the runtime's functions, cooperative ones, CUDA graphs (a graph counts
as one launch and is told as `CUDA graph`); the first launch that fails, with the reason; errors that show
only later; time by kernel; how often the submission waits for the device.

Not covered: launches through the driver, and those of other libraries.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from cuda_gym.judge.toolchains.failed_launches import (
    FailedLaunch,
    describe_failed_launch,
    describe_later_error,
)
from cuda_gym.judge.toolchains.kernel_runtime import LaunchedKernel
from cuda_gym.judge.toolchains.mangled_names import plain_name

__all__ = ["RecordedLibrary"]


class _Failure(ctypes.Structure):
    """As failures.h has it."""

    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("status", ctypes.c_int32),
        ("is_cooperative", ctypes.c_int32),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_int64),
        ("static_bytes", ctypes.c_int64),
        ("allowed_shared_bytes", ctypes.c_int64),
        ("default_shared_bytes", ctypes.c_int64),
        ("most_shared_bytes", ctypes.c_int64),
        ("registers", ctypes.c_int32),
        ("most_block_threads", ctypes.c_int32),
        ("resident_blocks", ctypes.c_int64),
    )


class _KernelTime(ctypes.Structure):
    """As launch_times.h has it."""

    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("launches", ctypes.c_uint64),
        ("total_ns", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("longest_ns", ctypes.c_uint64),
    )


_REFUSED_LAUNCH = 1
_OF_LAST_LAUNCH = 2


class RecordedLibrary:
    """The kernels of one build on a GPU. Each library has a recorder of its own.

    Args:
        path: A library that was linked with the recorder, or a module that Python imports.
    """

    def __init__(self, path: str | Path) -> None:
        self.library = ctypes.CDLL(str(path), mode=os.RTLD_NOW)
        """The submission's own functions."""
        self._take_failure = self.library.launch_recorder_take_failure
        self._failure = _Failure()
        self._at_failure = ctypes.byref(self._failure)
        self.library.launch_recorder_num_launches.restype = ctypes.c_uint64
        self.library.launch_recorder_num_synchronisations.restype = ctypes.c_uint64

    def num_launches(self) -> int:
        """Kernels launched by this library so far; launches that were refused do not count."""
        return int(self.library.launch_recorder_num_launches())

    def num_synchronisations(self) -> int:
        """Calls so far in which the host waited, or may have waited, for the device."""
        return int(self.library.launch_recorder_num_synchronisations())

    def take_error(self) -> str | None:
        """What went wrong in the first launch that failed since the last call; None where none did.

        Where none did, but the runtime holds an error of some other call, it is that one. Kernels
        that are still running are not waited for.
        """
        kind = self._take_failure(self._at_failure)
        if not kind:
            return None
        text = self._failure.text.decode("utf-8", "replace")
        if kind == _REFUSED_LAUNCH:
            return describe_failed_launch(_read(self._failure, text))
        is_later = kind == _OF_LAST_LAUNCH
        return describe_later_error(text, _read(self._failure, text) if is_later else None)

    def describe_fault(self, fault: str) -> str:
        """What the device says of a kernel that it has stopped, with the last launch before it."""
        if not self.library.launch_recorder_last_launch(self._at_failure):
            return fault
        return describe_later_error(fault, _read(self._failure, fault))

    def time_kernels(self, on: bool) -> None:
        """Forget the times of kernels, and take them from now on, or no longer."""
        self.library.launch_recorder_time_kernels(ctypes.c_int(on))

    def launched_kernels(self) -> tuple[LaunchedKernel, ...]:
        """What was launched since `time_kernels`, in the order of the first launches.

        Waits until it has run. What an event itself takes is subtracted.
        """
        found: list[LaunchedKernel] = []
        time = _KernelTime()
        while self.library.launch_recorder_kernel_time(len(found), ctypes.byref(time)):
            found.append(
                LaunchedKernel(
                    name=_name(time.kernel),
                    launches=time.launches,
                    total_ns=time.total_ns,
                    grid=tuple(time.grid),
                    block=tuple(time.block),
                )
            )
        return tuple(found)


def _name(symbol: bytes) -> str:
    return plain_name(symbol.decode("utf-8", "replace"))


def _read(failure: _Failure, text: str) -> FailedLaunch:
    return FailedLaunch(
        kernel=_name(failure.kernel),
        text=text,
        grid=tuple(failure.grid),
        block=tuple(failure.block),
        shared_bytes=failure.shared_bytes,
        static_bytes=_known(failure.static_bytes),
        allowed_shared_bytes=_known(failure.allowed_shared_bytes),
        default_shared_bytes=_known(failure.default_shared_bytes),
        most_shared_bytes=_known(failure.most_shared_bytes),
        registers=_known(failure.registers),
        most_block_threads=_known(failure.most_block_threads),
        resident_blocks=_known(failure.resident_blocks) if failure.is_cooperative else None,
    )


def _known(value: int) -> int | None:
    return None if value < 0 else value
