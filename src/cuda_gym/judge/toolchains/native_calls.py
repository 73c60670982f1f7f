"""A compiled function as Python calls it: every argument checked, every error told.

It may be a C function of a library, or a kernel that a driver launches.

Covered: number, type, device, contiguity and range of every argument; the status that the function
returns, and errors that the runtime still holds after a call.

Not covered: sizes. A function that is told a wrong `n` reads what is not there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_arguments import Convert, Misfit, make_converter
from cuda_gym.judge.toolchains.cuda_parameters import Parameter, ParameterKind
from cuda_gym.judge.toolchains.direct_kernels import DirectKernel

__all__ = [
    "CFunction",
    "KernelEntries",
    "LibraryEntries",
    "Surroundings",
    "c_function",
    "c_types",
    "make_call",
    "missing",
]


class CFunction(Protocol):
    """What is known of a function from its definition."""

    @property
    def symbol(self) -> str:
        """Its name in the compiled library."""
        ...

    @property
    def what(self) -> str:
        """What messages call it: `launcher scale`."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All that its definition names."""
        ...

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """Those that Python passes."""
        ...

    @property
    def returns(self) -> str:
        """`void`, or the type of a status, where 0 is success."""
        ...

    @property
    def file(self) -> str:
        """Where it is defined."""
        ...

    @property
    def line(self) -> int:
        """Of its name, from 1."""
        ...


class KernelEntries(Protocol):
    """Where the kernels of a build are launched from: its library, or the driver."""

    def entry(self, kernel: DirectKernel, leading: Sequence[Any]) -> Callable[..., int | None]:
        """What launches a kernel, given what is in front of its arguments and then these.

        Args:
            kernel: What its definition says.
            leading: C types of grid, block, bytes of shared memory and stream.

        Raises:
            CompileError: the build lacks it.
        """
        ...


class LibraryEntries:
    """Launches by the C functions that were compiled behind the kernels."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def entry(self, kernel: DirectKernel, leading: Sequence[Any]) -> Callable[..., int | None]:
        """The C function that launches a kernel."""
        return c_function(kernel, self._library, leading=leading)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What every call of a build has in common."""

    device: torch.device
    """Where tensors must be."""
    stream: Callable[[], int]
    """Gives the address of the current stream."""
    take_error: Callable[[], str | None]
    """Gives the runtime's pending error in words and clears it; None where all is well."""
    on_tensor: Callable[[str, torch.Tensor], None] | None = None
    """Told each tensor that a function is given, under the name of its parameter."""


def c_types(function: CFunction) -> list[Any]:
    """The types of ctypes for all that the definition names."""
    return [
        _C_TYPES[parameter.type] if parameter.kind is ParameterKind.SCALAR else ctypes.c_void_p
        for parameter in function.parameters
    ]


def c_function(
    function: CFunction, library: ctypes.CDLL, *, leading: Sequence[Any] = ()
) -> Callable[..., Any]:
    """The function in a library, with its C types declared.

    Args:
        function: What its definition says.
        library: What a toolchain built.
        leading: C types of what is passed before the arguments.

    Raises:
        CompileError: the library lacks it.
    """
    try:
        native = library[function.symbol]
    except AttributeError:
        raise CompileError(missing(function)) from None
    native.argtypes = [*leading, *c_types(function)]
    native.restype = _C_TYPES[function.returns]
    return native


def missing(function: CFunction) -> str:
    """That a build lacks what its sources define, with the way out."""
    return (
        f"the compiled library has no {function.what}, although "
        f"{function.file}:{function.line} defines it; take it out of conditional compilation "
        "and unnamed namespaces"
    )


def make_call(
    function: CFunction, native: Callable[..., int | None], around: Surroundings
) -> Callable[..., None]:
    """The function as `call(values, *leading)`.

    Args:
        function: What its definition says.
        native: Takes what is leading, unchecked, and then the arguments; gives a status or None.
        around: What belongs to it.
    """
    take_error, stream, on_tensor = around.take_error, around.stream, around.on_tensor
    arguments = function.arguments
    converters = [make_converter(parameter, around.device) for parameter in arguments]
    num_arguments = len(converters)
    streams = [
        place
        for place, parameter in enumerate(function.parameters)
        if parameter.kind is ParameterKind.STREAM
    ]

    def call(values: Sequence[Any], *before: Any) -> None:
        if len(values) != num_arguments:
            raise TypeError(_count_message(function, values))
        try:
            converted = [convert(value) for convert, value in zip(converters, values, strict=True)]
        except Misfit:
            raise _first_misfit(function, converters, values) from None
        if on_tensor is not None:
            for parameter, value in zip(arguments, values, strict=True):
                if isinstance(value, torch.Tensor):
                    on_tensor(parameter.name, value)
        for place in streams:
            converted.insert(place, stream())
        status = native(*before, *converted)
        error = take_error()
        if status or error:
            returned = f" returned {status}" if status else ""
            where = f"{function.file}:{function.line}"
            raise RuntimeError(f"{function.what} ({where}){returned}: {error or _NO_ERROR}")

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


def _first_misfit(
    function: CFunction, converters: Sequence[Convert], values: Sequence[Any]
) -> TypeError | ValueError:
    """The error for the first argument that does not fit."""
    for number, (parameter, convert, value) in enumerate(
        zip(function.arguments, converters, values, strict=True), start=1
    ):
        try:
            convert(value)
        except Misfit as misfit:
            reason = _exchanged(function, converters, values, number - 1) or misfit.reason
            return misfit.kind(
                f"argument {number} ({parameter}) of {function.what} {reason}. Call it as {function}."
            )
    return TypeError(f"an argument of {function.what} changed while it was checked")


def _exchanged(
    function: CFunction, converters: Sequence[Convert], values: Sequence[Any], place: int
) -> str:
    """That the value at a place and another one fit where the other stands; empty if none does."""
    for other in range(len(values)):
        if other != place and _fits(converters[other], values[place]):
            is_pair = not _fits(converters[other], values[other])
            if is_pair and _fits(converters[place], values[other]):
                return f"is exchanged with argument {other + 1} ({function.arguments[other]})"
    return ""


def _fits(convert: Convert, value: Any) -> bool:
    try:
        convert(value)
    except Misfit:
        return False
    return True


def _count_message(function: CFunction, values: Sequence[Any]) -> str:
    wanted = len(function.arguments)
    has_stream = len(function.parameters) > wanted
    hint = " The stream is filled in." if has_stream and len(values) > wanted else ""
    return (
        f"{function.what} takes {wanted} arguments, got {len(values)}. Call it as {function}.{hint}"
    )
