"""The module that a submission imports as `cuda_extension`: its launchers, checked and callable.

    cuda_extension.scale(out, x, x.numel(), 2.0)       an extern "C" function of a .cu file
    cuda_extension.library.gemm(a, b)                  where the task allows it

Covered: number, type, device, contiguity and range of every argument; the status that a launcher
returns, and errors that the runtime still holds after a call.

Not covered: sizes. A launcher that is told a wrong `n` reads what is not there.

It lives in the candidate's process, so nothing that it says is proof of anything.
"""

from __future__ import annotations

import ctypes
import difflib
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, NoReturn

import torch

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_arguments import Convert, Misfit, make_converter
from cuda_gym.judge.toolchains.cuda_library import library_calls
from cuda_gym.judge.toolchains.launchers import Launcher, ParameterKind

__all__ = ["make_extension"]


def make_extension(
    launchers: Iterable[Launcher],
    library: ctypes.CDLL,
    *,
    device: torch.device,
    stream: Callable[[], int],
    take_error: Callable[[], str | None],
    allowed_library: tuple[str, ...],
    on_library_call: Callable[[str], None],
    on_tensor: Callable[[str, torch.Tensor], None] | None = None,
) -> ModuleType:
    """The module for `sys.modules["cuda_extension"]`.

    Make it before torch's operators refuse: it keeps the kernels of the allowed library calls.

    Args:
        launchers: what `parse_launchers` found.
        library: what a toolchain built of the same files.
        device: where tensors must be.
        stream: gives the address of the current stream.
        take_error: gives the runtime's pending error in words and clears it; None where all is well.
        allowed_library: the calls of `cuda_extension.library` that the task allows.
        on_library_call: told the name of each library call.
        on_tensor: told each tensor that a launcher is given, under the name of its parameter.

    Raises:
        CompileError: the library lacks a launcher.
    """
    calls = {
        launcher.name: _checked_call(launcher, library, device, stream, take_error, on_tensor)
        for launcher in launchers
    }
    operations = dict(library_calls(allowed_library, on_library_call))
    namespace = _module("cuda_extension.library", "Matrix products and convolutions.", operations)
    signatures = "\n".join(call.__doc__ or "" for call in calls.values())
    return _module("cuda_extension", signatures, {**calls, "library": namespace})


def _module(name: str, doc: str, contents: dict[str, Any]) -> ModuleType:
    """A module that knows what it has, and suggests it where another name is asked for."""

    def missing(asked: str) -> NoReturn:
        near = difflib.get_close_matches(asked, contents, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"{name} has no {asked!r}.{hint} It has: {', '.join(contents)}.")

    module = ModuleType(name, doc)
    vars(module).update(contents, __all__=list(contents), __getattr__=missing)
    return module


def _checked_call(
    launcher: Launcher,
    library: ctypes.CDLL,
    device: torch.device,
    stream: Callable[[], int],
    take_error: Callable[[], str | None],
    on_tensor: Callable[[str, torch.Tensor], None] | None,
) -> Callable[..., None]:
    """The launcher as a Python function."""
    function = _symbol(launcher, library)
    arguments = launcher.arguments
    converters = [make_converter(parameter, device) for parameter in arguments]
    num_arguments = len(converters)
    streams = [
        place
        for place, parameter in enumerate(launcher.parameters)
        if parameter.kind is ParameterKind.STREAM
    ]

    def call(*values: Any) -> None:
        if len(values) != num_arguments:
            raise TypeError(_count_message(launcher, values))
        try:
            converted = [convert(value) for convert, value in zip(converters, values, strict=True)]
        except Misfit:
            raise _first_misfit(launcher, converters, values) from None
        if on_tensor is not None:
            for parameter, value in zip(arguments, values, strict=True):
                if isinstance(value, torch.Tensor):
                    on_tensor(parameter.name, value)
        for place in streams:
            converted.insert(place, stream())
        status = function(*converted)
        error = take_error()
        if status or error:
            returned = f" returned {status}" if status else ""
            raise RuntimeError(f"launcher {launcher.name}{returned}: {error or _NO_ERROR}")

    call.__name__ = call.__qualname__ = launcher.name
    call.__doc__ = str(launcher)
    return call


_NO_ERROR = "the runtime holds no error; 0 is the status of success"
_C_TYPES: dict[str, Any] = {
    "char": ctypes.c_int8,
    "signed char": ctypes.c_int8,
    "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_int16,
    "unsigned short": ctypes.c_uint16,
    "int": ctypes.c_int32,
    "unsigned int": ctypes.c_uint32,
    "long long": ctypes.c_int64,
    "unsigned long long": ctypes.c_uint64,
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "cudaError_t": ctypes.c_int32,
    "void": None,
}


def _symbol(launcher: Launcher, library: ctypes.CDLL) -> Callable[..., Any]:
    """The function in the library, with its C types declared."""
    try:
        function = library[launcher.name]
    except AttributeError:
        raise CompileError(
            f"the compiled library has no {launcher.name!r}, although "
            f"{launcher.file}:{launcher.line} defines it; take it out of conditional compilation "
            "and unnamed namespaces"
        ) from None
    function.argtypes = [
        _C_TYPES[p.type] if p.kind is ParameterKind.SCALAR else ctypes.c_void_p
        for p in launcher.parameters
    ]
    function.restype = _C_TYPES[launcher.returns]
    return function


def _first_misfit(
    launcher: Launcher, converters: Sequence[Convert], values: Sequence[Any]
) -> TypeError | ValueError:
    """The error for the first argument that does not fit."""
    for number, (parameter, convert, value) in enumerate(
        zip(launcher.arguments, converters, values, strict=True), start=1
    ):
        try:
            convert(value)
        except Misfit as misfit:
            return misfit.kind(
                f"argument {number} ({parameter}) of launcher {launcher.name} {misfit.reason}. "
                f"Call it as {launcher}."
            )
    return TypeError(f"an argument of launcher {launcher.name} changed while it was checked")


def _count_message(launcher: Launcher, values: Sequence[Any]) -> str:
    wanted = len(launcher.arguments)
    has_stream = len(launcher.parameters) > wanted
    hint = " The stream is filled in." if has_stream and len(values) > wanted else ""
    return (
        f"launcher {launcher.name} takes {wanted} arguments, got {len(values)}. "
        f"Call it as {launcher}.{hint}"
    )
