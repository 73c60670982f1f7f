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

from cuda_gym.judge.verification.pattern_sample import elements_at, sample

__all__ = ["describe_nan", "describe_unwritten_integers"]

_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
_SHARED = 0xFFF5FFF5FFF5FFF5
"""The pattern of `checks::poison`, and of variables (`phases.h`), as wide as the widest number."""


def describe_nan(
    got: Tensor, *, place: str | None, condition: str | None, is_gpu: bool = False
) -> str:
    """Say of elements that are NaN what their bits say.

    Args:
        got: The NaN, in their own dtype: a conversion would change the bits.
        place: Which part of the output they are; None where that cannot be named.
        condition: When they are NaN: if it depends on an input, they were computed.
        is_gpu: Whether they come from a GPU, which marks all that it computes.
    """
    bits = got.view(_BITS[got.dtype.itemsize])
    fresh = float((bits == _fresh_bits(got.dtype)).double().mean())
    shared = float(((bits ^ _shared_bits(got.dtype)) << 1 == 0).double().mean())
    if float((bits << 1 == -2).double().mean()) >= 0.5:
        return "computed, as by 0 / 0, inf - inf, the root or log of a negative number, or of NaN"
    if shared >= 0.5:
        return "they come from shared memory, a variable, or memory of cudaMalloc, that was never written"
    if fresh < 0.5:
        return "computed: inf - inf, 0 / 0, inf / inf, or the root of a negative number"
    if is_gpu:
        return "never written"
    if condition is not None:
        return "computed, as by log or pow of a negative number"
    if place is None:
        return "never written, or computed by log or pow of a negative number"
    if _marks_computed() or got.dtype == torch.bfloat16:
        return "never written, or computed from memory that was never written"
    return "never written, or computed from NaN"


def describe_unwritten_integers(got: Tensor, wrong: Tensor) -> str | None:
    """Whether wrong integers are what fresh memory holds."""
    if got.is_floating_point() or got.dtype == torch.bool:
        return None
    values = elements_at(got, sample(wrong))
    if bool((values == torch.iinfo(got.dtype).max).double().mean() < 0.95):
        return None
    return "they were never written: fresh memory holds the largest number"


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
