"""The functions of NVIDIA's driver that load and launch machine code, called through ctypes.

Covered: drivers since CUDA 11; where WSL keeps its library. Not covered: what needs a context is the
caller's to ask only after `use_context`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from cuda_gym.errors import MachineError, MissingTool

__all__ = ["Driver", "DriverCallFailed", "load_driver"]

_LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")

_pointer = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (ctypes.c_uint,),
    "cuCtxGetCurrent": (_pointer,),
    "cuCtxSetCurrent": (_pointer,),
    "cuCtxSynchronize": (),
    "cuCtxGetDevice": (_pointer,),
    "cuDeviceGet": (_pointer, ctypes.c_int),
    "cuDevicePrimaryCtxRetain": (_pointer, ctypes.c_int),
    "cuDeviceGetAttribute": (_pointer, ctypes.c_int, ctypes.c_int),
    "cuModuleLoadData": (_pointer, ctypes.c_char_p),
    "cuModuleGetFunction": (_pointer, _pointer, ctypes.c_char_p),
    "cuFuncGetAttribute": (_pointer, ctypes.c_int, _pointer),
    "cuFuncSetAttribute": (_pointer, ctypes.c_int, ctypes.c_int),
    "cuLaunchKernel": (_pointer, *[ctypes.c_uint] * 7, _pointer, _pointer, _pointer),
    "cuMemHostRegister_v2": (_pointer, ctypes.c_size_t, ctypes.c_uint),
    "cuMemHostGetDevicePointer_v2": (_pointer, _pointer, ctypes.c_uint),
    "cuMemcpyHtoDAsync_v2": (_pointer, _pointer, ctypes.c_size_t, _pointer),
    "cuMemHostUnregister": (_pointer,),
    "cuEventCreate": (_pointer, ctypes.c_uint),
    "cuEventRecord": (_pointer, _pointer),
    "cuEventSynchronize": (_pointer,),
    "cuEventElapsedTime": (_pointer, _pointer, _pointer),
    "cuStreamIsCapturing": (_pointer, _pointer),
    "cuGetErrorString": (ctypes.c_int, _pointer),
}


class DriverCallFailed(MachineError):
    """A function of the driver said no."""

    def __init__(self, function: str, status: int, text: str) -> None:
        super().__init__(f"{function} gives {text} (error {status} of NVIDIA's driver).")
        self.status = status
        self.text = text
        """The status in the driver's own words."""


class Driver:
    """The driver's functions by name, each giving its status; 0 is success."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._functions: dict[str, Callable[..., int]] = {}
        for name, types in _SIGNATURES.items():
            function = getattr(library, name)
            function.argtypes, function.restype = types, ctypes.c_int
            self._functions[name] = function

    def __getitem__(self, name: str) -> Callable[..., int]:
        return self._functions[name]

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises:
            DriverCallFailed: it gives an error.
        """
        if status := self[name](*arguments):
            raise DriverCallFailed(name, status, self.text(status))

    def text(self, status: int) -> str:
        """A status in the driver's own words."""
        said = ctypes.c_char_p()
        if self["cuGetErrorString"](status, ctypes.byref(said)) or not said.value:
            return f"error {status}"
        return said.value.decode("utf-8", "replace")

    def pointer(self, name: str, *arguments: Any) -> int:
        """The address that a function writes to its first argument; 0 for a null pointer.

        Raises:
            DriverCallFailed: it gives an error.
        """
        value = ctypes.c_void_p()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value or 0

    def number(self, name: str, *arguments: Any) -> int | None:
        """The number that a function writes to its first argument; None where it gives an error."""
        value = ctypes.c_int()
        return None if self[name](ctypes.byref(value), *arguments) else value.value

    def use_context(self, ordinal: int) -> int:
        """The current context; where there is none, the one that CUDA's runtime uses on a device.

        Raises:
            DriverCallFailed: the device cannot be used.
        """
        self.call("cuInit", 0)
        if context := self.pointer("cuCtxGetCurrent"):
            return context
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), ordinal)
        context = self.pointer("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxSetCurrent", context)
        return context


@lru_cache
def load_driver() -> Driver:
    """The driver of this machine, not yet initialised.

    Raises:
        MissingTool: there is none.
    """
    for name in _LIBRARIES:
        try:
            return Driver(ctypes.CDLL(name))
        except (OSError, AttributeError):
            continue
    raise MissingTool(
        "There is no NVIDIA driver (libcuda.so.1 is not found, or older than CUDA 11). Install one, "
        "or, in a container, start it with `--gpus all`."
    )
