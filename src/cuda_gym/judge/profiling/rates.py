"""The most that the processor of this machine reads, writes and computes, measured.

Copies larger than every cache, and a product of matrices. What is best in a few tries counts: with
neighbours both are slower, and a roof that is too low would call slow kernels good.

Not covered: other devices; what a kernel in C++ reaches of the arithmetic of a tuned library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import torch

from cuda_gym.core.verdict import DeviceRates
from cuda_gym.judge.profiling.telemetry import last_level_cache_bytes

__all__ = ["best_rates", "measure_rates", "read_rates"]

_MOST_COPY_BYTES = 128 << 20
_TRIES = 6
_MATRIX_SIZE = 768


def measure_rates() -> DeviceRates:
    """Take a quarter of a second on torch's present number of threads."""
    cache_bytes = last_level_cache_bytes()
    count = min(2 * cache_bytes, _MOST_COPY_BYTES) // 4
    source, target = torch.ones(count), torch.empty(count)
    a = torch.ones(_MATRIX_SIZE, _MATRIX_SIZE)
    b, c = torch.ones_like(a), torch.empty_like(a)
    copy_s = _fastest_s(lambda: target.copy_(source))
    product_s = _fastest_s(lambda: torch.mm(a, b, out=c))
    return DeviceRates(
        copy_gb_per_s=2 * count * 4 / copy_s / 1e9,
        gflop_per_s=2 * _MATRIX_SIZE**3 / product_s / 1e9,
        cache_bytes=cache_bytes,
        num_cores=torch.get_num_threads(),
    )


def best_rates(first: DeviceRates, second: DeviceRates) -> DeviceRates:
    """What was seen at all was possible."""
    return DeviceRates(
        copy_gb_per_s=max(first.copy_gb_per_s, second.copy_gb_per_s),
        gflop_per_s=max(first.gflop_per_s, second.gflop_per_s),
        cache_bytes=second.cache_bytes,
        num_cores=second.num_cores,
    )


def read_rates(plain: Mapping[str, object] | None) -> DeviceRates | None:
    """What was remembered; None where that cannot be used."""
    plain = plain or {}
    try:
        rates = DeviceRates(
            copy_gb_per_s=float(str(plain["copy_gb_per_s"])),
            gflop_per_s=float(str(plain["gflop_per_s"])),
            cache_bytes=int(str(plain["cache_bytes"])),
            num_cores=int(str(plain["num_cores"])),
        )
    except (KeyError, ValueError):
        return None
    return rates if min(rates.copy_gb_per_s, rates.gflop_per_s) > 0 else None


def _fastest_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
