"""The most that a device reads, writes and computes, measured.

Copies larger than every cache, and a product of matrices. What is best in a few tries counts: with
neighbours both are slower, and a roof that is too low would call slow kernels good.

Not covered: what a kernel in C++ reaches of the arithmetic of a tuned library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import torch

from cuda_gym.core.verdict import DeviceRates
from cuda_gym.judge.profiling.gpu_rates import measure_gpu
from cuda_gym.judge.profiling.telemetry import last_level_cache_bytes

__all__ = ["best_rates", "measure_rates", "read_rates"]

_MOST_COPY_BYTES = 128 << 20
_TRIES = 6
_MATRIX_SIZE = 768


def measure_rates(device: torch.device | None = None) -> DeviceRates:
    """Take a quarter of a second on torch's present number of threads, or half a second of a GPU.

    Args:
        device: Of which; None is the processor.
    """
    if device is not None and device.type == "cuda":
        return measure_gpu(device)
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
    formats = {*first.gflop_per_s_in, *second.gflop_per_s_in}
    return DeviceRates(
        copy_gb_per_s=max(first.copy_gb_per_s, second.copy_gb_per_s),
        gflop_per_s=max(first.gflop_per_s, second.gflop_per_s),
        cache_bytes=second.cache_bytes,
        num_cores=second.num_cores,
        cached_gb_per_s=_larger(first.cached_gb_per_s, second.cached_gb_per_s),
        peak_gb_per_s=second.peak_gb_per_s,
        gflop_per_s_in={
            name: max(r.gflop_per_s_in.get(name, 0.0) for r in (first, second))
            for name in sorted(formats)
        },
    )


def read_rates(plain: Mapping[str, object] | None) -> DeviceRates | None:
    """What was remembered; None where that cannot be used."""
    plain = plain or {}
    formats = plain.get("gflop_per_s_in")
    try:
        rates = DeviceRates(
            copy_gb_per_s=float(str(plain["copy_gb_per_s"])),
            gflop_per_s=float(str(plain["gflop_per_s"])),
            cache_bytes=int(str(plain["cache_bytes"])),
            num_cores=int(str(plain["num_cores"])),
            cached_gb_per_s=_optional(plain.get("cached_gb_per_s")),
            peak_gb_per_s=_optional(plain.get("peak_gb_per_s")),
            gflop_per_s_in=(
                {str(name): float(str(rate)) for name, rate in formats.items()}
                if isinstance(formats, Mapping)
                else {}
            ),
        )
    except (KeyError, ValueError):
        return None
    least = min(rates.copy_gb_per_s, rates.gflop_per_s, *rates.gflop_per_s_in.values())
    return rates if least > 0 else None


def _larger(first: float | None, second: float | None) -> float | None:
    return max((rate for rate in (first, second) if rate is not None), default=None)


def _optional(value: object) -> float | None:
    return None if value is None else float(str(value))


def _fastest_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
