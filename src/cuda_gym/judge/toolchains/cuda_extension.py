"""The module that a submission imports as `cuda_extension`: its kernels, checked and callable.

    cuda_extension.scale(out, x, x.numel(), 2.0)           an extern "C" function of a .cu file
    cuda_extension.kernel("scale_kernel")[8, 256](out, x)  a __global__ function, without a launcher
    cuda_extension.library.gemm(a, b)                      where the task allows it

It lives in the candidate's process, so nothing that it says is proof of anything.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, NoReturn

import torch

from cuda_gym.errors import CompileError, did_you_mean
from cuda_gym.judge.toolchains.cuda_library import library_calls
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel
from cuda_gym.judge.toolchains.kernel_calls import make_kernel_function
from cuda_gym.judge.toolchains.launchers import Launcher
from cuda_gym.judge.toolchains.native_calls import (
    KernelEntries,
    LibraryEntries,
    Surroundings,
    c_function,
    make_call,
)

__all__ = ["make_extension"]

Call = Callable[..., Any]


def make_extension(
    launchers: Iterable[Launcher],
    library: ctypes.CDLL | KernelEntries,
    *,
    device: torch.device,
    stream: Callable[[], int],
    take_error: Callable[[], str | None],
    allowed_library: tuple[str, ...],
    on_library_call: Callable[[str], None],
    on_tensor: Callable[[str, torch.Tensor], None] | None = None,
    kernels: Iterable[DirectKernel] = (),
    timed: Callable[[str, Call], Call] | None = None,
    allow_tf32: bool = False,
) -> ModuleType:
    """The module for `sys.modules["cuda_extension"]`.

    Make it before torch's operators refuse: it keeps the kernels of the allowed library calls.

    Args:
        launchers: what `parse_launchers` found.
        library: what a toolchain built of the same files; for a build without host code, which has
            no launchers, what launches its kernels.
        device: where tensors must be.
        stream: gives the address of the current stream.
        take_error: gives the runtime's pending error in words and clears it; None where all is well.
        allowed_library: the calls of `cuda_extension.library` that the task allows.
        on_library_call: told the name of each library call.
        on_tensor: told each tensor that a launcher or a kernel is given, under the name of its
            parameter.
        kernels: what `parse_kernels` found.
        timed: makes the same library call, whose time is heard under its name.
        allow_tf32: whether the task takes float32 products of a library that are rounded to TF32.
    """
    around = Surroundings(device=device, stream=stream, take_error=take_error, on_tensor=on_tensor)
    kernels = tuple(kernels)
    calls: dict[str, Call] = {}
    lacking: dict[str, str] = {}
    if isinstance(library, ctypes.CDLL):
        calls, lacking = _launcher_calls(launchers, library, around)
    entries = LibraryEntries(library) if isinstance(library, ctypes.CDLL) else library
    operations = dict(
        library_calls(allowed_library, on_library_call, device, allow_tf32=allow_tf32)
    )
    if timed is not None:
        operations = {name: timed(name, call) for name, call in operations.items()}
    namespace = _module("cuda_extension.library", "Matrix products and convolutions.", operations)
    contents = {
        **calls,
        "kernel": make_kernel_function(kernels, entries, around, calls),
        "library": namespace,
    }
    hints = {
        kernel.name: f" It is a kernel; call cuda_extension.{kernel}."
        for kernel in kernels
        if not kernel.problem
    } | lacking
    signatures = "\n".join(call.__doc__ or "" for call in calls.values())
    return _module("cuda_extension", signatures, contents, hints)


def _launcher_calls(
    launchers: Iterable[Launcher], library: ctypes.CDLL, around: Surroundings
) -> tuple[dict[str, Call], dict[str, str]]:
    """The calls of a library by name, and what to say of those that it lacks.

    A launcher that a condition leaves out matters to nobody who does not call it.
    """
    calls: dict[str, Call] = {}
    lacking: dict[str, str] = {}
    for launcher in launchers:
        try:
            calls[launcher.name] = _launcher_call(launcher, library, around)
        except CompileError as error:
            lacking[launcher.name] = f" It is a launcher, but {error}."
    return calls, lacking


def _launcher_call(
    launcher: Launcher, library: ctypes.CDLL, around: Surroundings
) -> Callable[..., None]:
    """The launcher as a Python function."""
    checked = make_call(launcher, c_function(launcher, library), around)

    def call(*values: Any, **named: Any) -> None:
        if named:
            raise TypeError(
                f"{launcher.what} takes its arguments by position. Call it as {launcher}."
            )
        checked(values)

    call.__name__ = call.__qualname__ = launcher.name
    call.__doc__ = str(launcher)
    return call


def _module(
    name: str, doc: str, contents: Mapping[str, Any], hints: Mapping[str, str] | None = None
) -> ModuleType:
    """A module that knows what it has, and suggests it where another name is asked for."""

    def missing(asked: str) -> NoReturn:
        hint = (hints or {}).get(asked) or did_you_mean(asked, contents)
        raise AttributeError(f"{name} has no {asked!r}.{hint} It has: {', '.join(contents)}.")

    module = ModuleType(name, doc)
    vars(module).update(contents, __all__=list(contents), __getattr__=missing)
    return module
