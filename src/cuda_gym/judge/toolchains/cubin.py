"""Kernels without host code as a candidate process sees them: loaded and launched through the driver.

Covered: several files of machine code in one build; more shared memory than a device gives without being
asked; the first launch that fails, with the reason; time by kernel. A launch costs one call of the
driver: the places of its arguments are made once.

Not covered: cooperative launches and clusters that are asked for at the launch; replays of CUDA graphs
are not counted.
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cuda_gym.errors import CandidateError, CompileError
from cuda_gym.judge.toolchains.cuda_driver import Driver, DriverCallFailed, load_driver
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel
from cuda_gym.judge.toolchains.failed_launches import (
    FailedLaunch,
    describe_failed_launch,
    describe_later_error,
)
from cuda_gym.judge.toolchains.kernel_runtime import LaunchedKernel
from cuda_gym.judge.toolchains.launch_clock import LaunchClock
from cuda_gym.judge.toolchains.mangled_names import plain_name
from cuda_gym.judge.toolchains.native_calls import c_types, missing

__all__ = ["LoadedCubin"]


class _Function(NamedTuple):
    handle: int
    name: str
    static_bytes: int


class LoadedCubin:
    """The kernels of one build on a GPU.

    Args:
        path: The index that a toolchain has written; the machine code lies beside it.
        ordinal: The device, where this process has no context yet.

    Raises:
        MissingTool: there is no driver.
        DriverCallFailed: it cannot use the device, or does not take the machine code.
        CandidateError: there is no memory for what the kernels keep in it.
    """

    def __init__(self, path: str | Path, *, ordinal: int = 0) -> None:
        self._driver = load_driver()
        self._context = self._driver.use_context(ordinal)
        self._clock = LaunchClock(self._driver)
        self._lock = threading.Lock()
        self._num_launches = 0
        self._error: str | None = None
        self._last: tuple[str, Sequence[Any]] | None = None
        self._functions: dict[str, _Function] = {}
        index = Path(path)
        for part in json.loads(index.read_bytes()):
            module = self._load((index.parent / part["cubin"]).read_bytes())
            for name, symbol in part["kernels"].items():
                self._functions[name] = self._function(module, symbol)

    def entry(self, kernel: DirectKernel, leading: Sequence[Any]) -> Callable[..., None]:
        """What launches a kernel, given grid, block, bytes of shared memory, stream and arguments.

        Args:
            kernel: What its definition says.
            leading: Ignored: the driver takes them as they are.

        Raises:
            CompileError: the build lacks it.
        """
        del leading
        if kernel.name not in self._functions:
            raise CompileError(missing(kernel))
        return self._launch(self._functions[kernel.name], c_types(kernel))

    def num_launches(self) -> int:
        """Kernels launched through this so far; launches that were refused do not count."""
        return self._num_launches

    def num_synchronisations(self) -> int:
        """Calls in which the host waited for the device: there is no host code that could."""
        return 0

    def take_error(self) -> str | None:
        """What went wrong in the first launch that failed since the last call; None where none did."""
        error, self._error = self._error, None
        return error

    def describe_fault(self, fault: str) -> str:
        """What the device says of a kernel that it has stopped, with the last launch before it."""
        last = None if self._last is None else _described(*self._last, fault)
        return fault if last is None else describe_later_error(fault, last)

    def time_kernels(self, on: bool) -> None:
        """Forget the times of kernels, and take them from now on, or no longer."""
        self._clock.start(on)

    def launched_kernels(self) -> tuple[LaunchedKernel, ...]:
        """What was launched since `time_kernels`, in the order of the first launches.

        Waits until it has run. What an event itself takes is subtracted.
        """
        return self._clock.read()

    def _load(self, image: bytes) -> int:
        try:
            return self._driver.pointer("cuModuleLoadData", image)
        except DriverCallFailed as failed:
            if failed.status != _OUT_OF_MEMORY:
                raise
            raise CandidateError(
                "There is no memory on the device for the __device__ and __constant__ variables of "
                "the kernels. Make them smaller, or pass tensors."
            ) from None

    def _function(self, module: int, symbol: str) -> _Function:
        handle = self._driver.pointer("cuModuleGetFunction", module, symbol.encode())
        # To ask is also to load, which could not be done while a stream is captured.
        static_bytes = self._driver.number("cuFuncGetAttribute", _SHARED_BYTES, handle)
        return _Function(handle, plain_name(symbol), static_bytes or 0)

    def _launch(self, kernel: _Function, types: Sequence[Any]) -> Callable[..., None]:
        slots = [type_() for type_ in types]
        places = (ctypes.c_void_p * max(1, len(slots)))(*map(ctypes.addressof, slots))
        driver, clock, lock = self._driver, self._clock, self._lock
        launch_kernel = driver["cuLaunchKernel"]
        function, name = kernel.handle, kernel.name
        allowed_bytes = _UNASKED_SHARED_BYTES - kernel.static_bytes

        def launch(*given: Any) -> None:
            # In front: grid, block, bytes of shared memory and stream, in the order of the driver.
            nonlocal allowed_bytes
            if given[6] > allowed_bytes and not driver["cuFuncSetAttribute"](
                function, _MOST_DYNAMIC_SHARED_BYTES, given[6]
            ):
                allowed_bytes = given[6]
            with lock:
                for slot, value in zip(slots, given[8:], strict=True):
                    slot.value = value
                is_timed = clock.is_on and clock.before(name, given[:3], given[3:6], given[7])
                status = launch_kernel(function, *given[:8], places, None)
                if status == _NO_CONTEXT:  # a thread that has not used the device yet
                    driver["cuCtxSetCurrent"](self._context)
                    status = launch_kernel(function, *given[:8], places, None)
                if is_timed:
                    clock.after(not status)
                if status:
                    self._keep(status, function, name, given)
                else:
                    self._num_launches += 1
                    self._last = name, given

        return launch

    def _keep(self, status: int, function: int, name: str, given: Sequence[Any]) -> None:
        """Why a launch failed, where it is the first."""
        if self._error is not None:
            return
        text = self._driver.text(status)
        if status in _OF_EARLIER_KERNELS:
            last = None if self._last is None else _described(*self._last, text)
            self._error = describe_later_error(text, last)
        else:
            limits = _limits(self._driver, function)
            self._error = describe_failed_launch(_described(name, given, text, **limits))


_UNASKED_SHARED_BYTES = 48 << 10
"""More shared memory in all than this the driver gives only to a kernel for which it was asked."""

# Numbers of the driver's interface.
_OUT_OF_MEMORY = 2
_NO_CONTEXT = 201
_OF_EARLIER_KERNELS = frozenset({700, 702, 709, 710, *range(714, 720)})
"""What a launch may give that is about a kernel before it."""
_MOST_BLOCK_THREADS, _SHARED_BYTES, _REGISTERS, _MOST_DYNAMIC_SHARED_BYTES = 0, 1, 4, 8
"""Of a function."""
_DEFAULT_SHARED_BYTES, _MOST_SHARED_BYTES = 8, 97
"""Of a device."""


def _described(name: str, given: Sequence[Any], text: str, **limits: int | None) -> FailedLaunch:
    grid_x, grid_y, grid_z, block_x, block_y, block_z, shared = given[:7]
    return FailedLaunch(
        kernel=name,
        text=text,
        grid=(grid_x, grid_y, grid_z),
        block=(block_x, block_y, block_z),
        shared_bytes=shared,
        **limits,
    )


def _limits(driver: Driver, function: int) -> dict[str, int | None]:
    """What explains a refused launch."""
    device = driver.number("cuCtxGetDevice") or 0
    return {
        "static_bytes": driver.number("cuFuncGetAttribute", _SHARED_BYTES, function),
        "allowed_shared_bytes": driver.number(
            "cuFuncGetAttribute", _MOST_DYNAMIC_SHARED_BYTES, function
        ),
        "default_shared_bytes": driver.number(
            "cuDeviceGetAttribute", _DEFAULT_SHARED_BYTES, device
        ),
        "most_shared_bytes": driver.number("cuDeviceGetAttribute", _MOST_SHARED_BYTES, device),
        "registers": driver.number("cuFuncGetAttribute", _REGISTERS, function),
        "most_block_threads": driver.number("cuFuncGetAttribute", _MOST_BLOCK_THREADS, function),
    }
