"""Where a NaN comes from, as far as its bits tell.

Fresh memory does not hold zeros while a submission is verified. What torch allocates is filled with
the NaN that has no sign and no payload; shared memory, and what cudaMalloc gives, with a NaN of our
own (`checks.h`). Arithmetic on x86 hands a NaN on as it is and makes new ones with a sign; functions
such as logf return one without, and a conversion to bfloat16 makes 0x7fff of all. A GPU makes one
pattern of every NaN it computes (0x7fffffff on an H200), so that what still has the bits of fresh
memory there was surely never written.

Covered: float16 to float64, integers that were never written. Not covered: of what a NaN was
computed on a GPU.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

__all__ = ["describe_nan", "describe_unwritten_integers"]

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
_SHARED = 0xFFF5FFF5FFF5FFF5
"""The pattern of `checks::poison`, as wide as the widest number."""


def describe_nan(
    got: Tensor, want: Tensor, wrong: Tensor, *, has_condition: bool, has_place: bool = True
) -> str | None:
    """Say of those wrong elements that are NaN what their bits say; None where there are none.

    Args:
        got: The output in its own dtype: a conversion would change the bits.
        want: What was expected.
        wrong: Which elements are wrong.
        has_condition: Whether they depend on the value of an input, so that they were computed.
        has_place: Whether they are all, or a part of the output that can be named.
    """
    if not got.is_floating_point():
        return None
    nan = got.isnan() & wrong & ~want.isnan()
    count, num_wrong = int(nan.sum()), int(wrong.sum())
    if not count:
        return None
    who = "they are NaN" if count == num_wrong else f"{count:,} of them are NaN"
    return f"{who}: {_origin(got[nan], has_condition, has_place)}"


def describe_unwritten_integers(got: Tensor, wrong: Tensor) -> str | None:
    """Whether wrong integers are what fresh memory holds."""
    if got.is_floating_point() or got.dtype == torch.bool:
        return None
    values = got[wrong]
    if bool((values == torch.iinfo(got.dtype).max).double().mean() < 0.95):
        return None
    return "they were never written: fresh memory holds the largest number"


def _origin(values: Tensor, has_condition: bool, has_place: bool) -> str:
    bits = values.view(_BITS[values.dtype.itemsize])
    fresh = float((bits == _fresh_bits(values.dtype)).double().mean())
    shared = float(((bits ^ _shared_bits(values.dtype)) << 1 == 0).double().mean())
    if float((bits << 1 == -2).double().mean()) >= 0.5:
        return "computed, as by 0 / 0, inf - inf, the root or log of a negative number, or of NaN"
    if shared >= 0.5:
        return "they come from shared memory, or memory of cudaMalloc, that was never written"
    if fresh >= 0.5 and has_condition:
        return "computed, as by log or pow of a negative number"
    if fresh >= 0.5 and not has_place:
        return "never written, or computed by log or pow of a negative number"
    if fresh >= 0.5 and (_marks_computed() or values.dtype == torch.bfloat16):
        part = "" if fresh >= 0.95 else f" ({fresh:.0%} of these)"
        return f"never written{part}, or computed from memory that was never written"
    if fresh >= 0.5:
        return "never written, or computed from NaN"
    return "computed: inf - inf, 0 / 0, inf / inf, or the root of a negative number"


@lru_cache
def _fresh_bits(dtype: torch.dtype) -> int:
    return _bits_of(torch.tensor(float("nan"), dtype=dtype))


@lru_cache
def _shared_bits(dtype: torch.dtype) -> int:
    width = 8 * dtype.itemsize
    pattern = _SHARED >> (64 - width)
    return pattern - (1 << width)


@lru_cache
def _marks_computed() -> bool:
    """Whether this processor gives a sign to the NaN that it makes, as x86 does."""
    zero = torch.zeros((), dtype=torch.float32)
    return _bits_of(zero / zero) != _fresh_bits(torch.float32)


def _bits_of(number: Tensor) -> int:
    return int(number.view(_BITS[number.dtype.itemsize]))
