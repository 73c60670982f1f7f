"""A right submission whose call, work and device are easy to reckon with.

The device copies 10 GB/s and multiplies at 100 GFLOP/s: 10 kB are 1 us, 100 kFLOP are 1 us.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuda_gym.core.verdict import DeviceRates, KernelTime, Profile, Timing, Work

RATES = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=1_000_000, num_cores=4)
Make = Callable[..., Profile]
MakeTiming = Callable[..., Timing]


def kernel_of(name: str = "add", total_us: float = 90.0, **changes: object) -> KernelTime:
    plain = KernelTime(
        name=name, launches=1, total_us=total_us, grid=(64, 2, 1), block=(256, 1, 1), mode="loop"
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def profile_of(
    *kernels: KernelTime,
    call_us: float | None = 100.0,
    bytes_us: float = 50.0,
    flops_us: float = 1.0,
    rates: DeviceRates | None = RATES,
) -> Profile:
    """A call of some kernels, and a task that takes so long to move and to compute at best."""
    work = Work(
        read_bytes=round(bytes_us * 9_000),
        written_bytes=round(bytes_us * 1_000),
        flops=flops_us * 1e5,
    )
    return Profile(call_us=call_us, kernels=kernels or (kernel_of(),), work=work, rates=rates)


def timing_of(time_us: float = 100.0, speedup: float = 2.0, noise: float = 0.02) -> Timing:
    return Timing(
        time_us=time_us,
        compile_us=time_us * speedup,
        speedup=speedup,
        speedup_low=speedup * (1 - noise),
        speedup_high=speedup * (1 + noise),
        num_blocks=8,
        num_calls=64,
        timer="wall",
        eager_us=time_us * speedup * 1.5,
    )


@pytest.fixture
def make_kernel() -> Callable[..., KernelTime]:
    return kernel_of


@pytest.fixture
def make_profile() -> Make:
    return profile_of


@pytest.fixture
def make_timing() -> MakeTiming:
    return timing_of
