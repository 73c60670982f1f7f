"""One argument of a launcher: from what Python passes to what ctypes takes.

A converter is made once for each parameter and runs in every call, so it is written for speed: the
common case is the first one asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from cuda_gym.judge.toolchains.cuda_parameters import Parameter, ParameterKind
from cuda_gym.judge.toolchains.cuda_types import INTEGER_BITS

__all__ = ["Convert", "Misfit", "make_converter"]

Convert = Callable[[Any], Any]
"""From what Python passes to what ctypes takes; a `Misfit` where that cannot be."""


class Misfit(Exception):
    """An argument that does not fit; the reason names no argument yet."""

    def __init__(self, reason: str, kind: type[TypeError | ValueError] = TypeError) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


def make_converter(parameter: Parameter, device: torch.device) -> Convert:
    """What checks and converts the arguments for one parameter."""
    if parameter.kind is ParameterKind.POINTER:
        return _pointer_converter(parameter, device)
    if parameter.type in INTEGER_BITS:
        return _integer_converter(parameter.type)
    return _to_bool if parameter.type == "bool" else _to_float


_DTYPES = {
    "char": torch.int8,
    "signed char": torch.int8,
    "unsigned char": torch.uint8,
    "short": torch.int16,
    "unsigned short": torch.uint16,
    "int": torch.int32,
    "unsigned int": torch.uint32,
    "long long": torch.int64,
    "unsigned long long": torch.uint64,
    "bool": torch.bool,
    "float": torch.float32,
    "double": torch.float64,
    "__half": torch.float16,
    "__nv_bfloat16": torch.bfloat16,
}
_TYPES = {
    dtype: type_ for type_, dtype in _DTYPES.items() if type_ not in ("char", "unsigned long long")
} | {torch.int8: "signed char"}
"""What to take a tensor of a dtype as."""
_NARROW = {"__half": "__half2float", "__nv_bfloat16": "__bfloat162float"}
"""How C++ reads what it has no arithmetic of its own for."""
_VECTORS = {
    "float2": ("float", 8),
    "float4": ("float", 16),
    "double2": ("double", 16),
    "int2": ("int", 8),
    "int4": ("int", 16),
    "__half2": ("__half", 4),
    "__nv_bfloat162": ("__nv_bfloat16", 4),
}
"""The element's type, and the alignment in bytes that the vector needs."""


def _pointer_converter(parameter: Parameter, device: torch.device) -> Convert:
    type_ = parameter.type
    element, alignment = _VECTORS.get(type_, (type_, 1))
    dtype = _DTYPES.get(element)
    tensor_types = (torch.Tensor, torch.nn.Parameter)
    is_cpu = device.type == "cpu"

    def to_pointer(value: Any) -> int | None:
        # The order is that of cost, and the common case returns at its first line.
        if type(value) in tensor_types:
            if (
                (value.dtype is dtype or dtype is None)
                and (value.is_cpu if is_cpu else value.device == device)
                and value.is_contiguous()
            ):
                address: int = value.data_ptr()
                if not address % alignment:
                    return address
                raise Misfit(
                    f"starts at an address that is no multiple of {alignment} bytes, as {type_}* "
                    f"needs; pass a tensor that starts where its storage starts",
                    ValueError,
                )
            raise _tensor_misfit(value, dtype, device, parameter)
        if value is None:
            return None
        raise Misfit(f"is {_describe(value)}, wanted a torch.Tensor or None")

    return to_pointer


def _tensor_misfit(
    value: torch.Tensor, dtype: torch.dtype | None, device: torch.device, parameter: Parameter
) -> Misfit:
    """Why a tensor does not fit."""
    if dtype is not None and value.dtype is not dtype:
        return Misfit(
            f"is a {value.dtype} tensor, wanted {dtype}: {_remedy(value, dtype, parameter)}"
        )
    if value.device != device:
        return Misfit(
            f"is on {value.device}, wanted {device}: allocate it with device=x.device of an input",
            ValueError,
        )
    return Misfit(
        f"is not contiguous (shape {list(value.shape)}, strides {list(value.stride())}): pass the "
        "tensor that it is a view of and its strides as numbers; call .contiguous() only outside "
        "of forward, as it copies",
        ValueError,
    )


def _remedy(value: torch.Tensor, dtype: torch.dtype, parameter: Parameter) -> str:
    """What to do about a dtype, without an operator of torch: an input stays what it is."""
    own = _TYPES.get(value.dtype)
    allocate = f"allocate it as {str(dtype).removeprefix('torch.')}"
    if own is None:
        return allocate
    take = f"take `{'const ' if parameter.const else ''}{own}* {parameter.name}` in its signature"
    if own in _NARROW:
        take += f" and convert each element with {_NARROW[own]}"
    return f"{take}, or {allocate}" if parameter.const else f"{allocate}, or {take}"


def _integer_converter(type_: str) -> Convert:
    bits = INTEGER_BITS[type_]
    is_unsigned = type_.startswith("unsigned")
    low = 0 if is_unsigned else -(1 << (bits - 1))
    high = (1 << (bits if is_unsigned else bits - 1)) - 1

    def to_integer(value: Any) -> int:
        if isinstance(value, int):
            if low <= value <= high:
                return value
            raise Misfit(f"is {value}, wanted {type_}: {low} to {high}", ValueError)
        raise Misfit(f"is {_describe(value)}, wanted {type_}{_number_advice(value)}")

    return to_integer


def _to_float(value: Any) -> float:
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError:
            raise Misfit("is an int beyond the range of a float", ValueError) from None
    raise Misfit(f"is {_describe(value)}, wanted a float{_number_advice(value)}")


def _to_bool(value: Any) -> bool:
    if value is True or value is False:
        return value
    raise Misfit(f"is {_describe(value)}, wanted True or False{_number_advice(value)}")


def _number_advice(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return (
            ": read it once in __init__ with .item(), or take a pointer in the launcher and read "
            "it in the kernel"
        )
    return ": convert it with int()" if isinstance(value, float) else ""


def _describe(value: Any) -> str:
    """A value in words, without running any code of its own."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {list(value.shape)}"
    if type(value) in (int, float, bool):
        return f"the {type(value).__name__} {value}"
    return f"a {type(value).__name__}"
