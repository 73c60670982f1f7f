"""How fast a call could be: what the task asks for, at the rates of the device. Pure.

Two floors: one that submissions come near to, which is told; and one that nothing right comes below,
under which a time is void. The latter gives way wherever something is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cuda_gym.core.verdict import DeviceRates, Profile

__all__ = ["Floor", "floor_of", "gflop_per_s", "is_below_floor", "number_format"]

_LENIENCY = 1.1
"""Over the peak that the memory's clock and width give, which nothing reaches."""
_UNSURE = 1.25
"""Over the fastest copy that was seen, where that peak is unknown: reads alone are faster than copies."""
_CACHED = 2.0
"""Over the fastest copy within the cache: caches nearer to the cores are faster still."""

_FORMATS = ("int8", "half", "tf32", "float32", "float64")
"""Number formats of products, the fastest first."""
_FORMAT_OF = {
    "int8": "int8",
    "uint8": "int8",
    "float16": "half",
    "bfloat16": "half",
    "float32": "float32",
    "float64": "float64",
}


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The times below which no submission is to be expected, each alone."""

    memory_us: float
    """Every byte is moved once."""
    arithmetic_us: float | None
    """Nothing is computed twice; None where nobody counts the operators."""
    fits_cache: bool
    """Whether all that a call moves has room in the last cache, so that outputs need not leave it."""

    @property
    def time_us(self) -> float:
        """The higher of the two."""
        return max(self.memory_us, self.arithmetic_us or 0.0)

    @property
    def is_arithmetic(self) -> bool:
        """Whether arithmetic takes longer than moving the bytes."""
        return self.time_us > self.memory_us


def floor_of(profile: Profile | None) -> Floor | None:
    """The floor of a task on a device; None where one of the two is unknown.

    >>> from cuda_gym.core.verdict import DeviceRates, Work
    >>> rates = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=1 << 20, num_cores=2)
    >>> floor_of(Profile(work=Work(read_bytes=6_000_000, written_bytes=4_000_000, flops=5e7), rates=rates))
    Floor(memory_us=1000.0, arithmetic_us=500.0, fits_cache=False)
    """
    if profile is None or profile.work is None or profile.rates is None:
        return None
    work, rates = profile.work, profile.rates
    moved = work.read_bytes + work.written_bytes
    rate = gflop_per_s(rates, work.number_format)
    return Floor(
        memory_us=moved / rates.copy_gb_per_s / 1e3,
        arithmetic_us=None if work.flops is None else work.flops / rate / 1e3,
        fits_cache=moved <= rates.cache_bytes,
    )


def gflop_per_s(rates: DeviceRates, number_format: str) -> float:
    """The rate of products in a number format; that of float32 where nobody measured it."""
    return rates.gflop_per_s_in.get(number_format, rates.gflop_per_s)


def number_format(dtypes: Iterable[str], *, allow_tf32: bool) -> str:
    """In which number format the products of a task may be computed: the fastest of its tensors.

    Args:
        dtypes: Of its inputs and parameters, as torch prints them, without `torch.`.
        allow_tf32: Whether the task takes float32 products that are rounded to TF32.

    >>> number_format(["int64", "float32", "bfloat16"], allow_tf32=False)
    'half'
    """
    found = {_FORMAT_OF[dtype] for dtype in dtypes if dtype in _FORMAT_OF}
    if allow_tf32 and "float32" in found:
        found.add("tf32")
    return min(found, key=_FORMATS.index, default="float32")


def is_below_floor(
    time_us: float, *, written_bytes: int, influential_bytes: int, rates: DeviceRates | None
) -> str | None:
    """Why a time cannot be that of a submission which did its work; None where it can.

    What has room in the cache may come from there, and need not leave it: only what is beyond must
    pass through memory, at its peak. All of it must pass through the cache. Where nobody measured the
    cache, as on `cpu`, nothing is void: caches there have many levels, and neighbours slow every
    measurement.

    Args:
        time_us: Of the submission.
        written_bytes: Outputs.
        influential_bytes: Inputs on which outputs were proved to depend.
        rates: Of the device; None where they are unknown.
    """
    if rates is None or rates.cache_bytes <= 0 or rates.cached_gb_per_s is None:
        return None
    moved = written_bytes + influential_bytes
    peak = (
        _LENIENCY * max(rates.peak_gb_per_s, rates.copy_gb_per_s)
        if rates.peak_gb_per_s
        else _UNSURE * rates.copy_gb_per_s
    )
    beyond = max(0, moved - rates.cache_bytes)
    memory_us = beyond / peak / 1e3
    cache_rate = _CACHED * max(rates.cached_gb_per_s, rates.copy_gb_per_s)
    cache_us = moved / cache_rate / 1e3
    if time_us >= max(memory_us, cache_us):
        return None
    through, num_bytes, rate, floor_us = (
        ("its memory", beyond, peak, memory_us)
        if memory_us >= cache_us
        else ("its cache", moved, cache_rate, cache_us)
    )
    return (
        f"{time_us:.2f} us is less than the {floor_us:.2f} us that this device needs: of "
        f"{written_bytes:,} bytes of output and {influential_bytes:,} bytes of input that the output "
        f"depends on, {num_bytes:,} pass through {through}, at {rate:.0f} GB/s at the very most. Not "
        "all of the work was done within the time."
    )
