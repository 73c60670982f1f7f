"""The most that a GPU reads, writes and computes, measured in the reference's process.

Every call is queued behind others, so that the host's time does not show. Products are made larger
until they take some milliseconds, so that no card computes for long in a format in which it is slow.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from cuda_gym.core.verdict import DeviceRates
from cuda_gym.judge.profiling.gpus import list_gpus

__all__ = ["measure_gpu"]

_TRIES = 5
_MOST_COPY_BYTES = 512 << 20
_COPIES = 16
"""Of what fits the cache, timed together: one takes less than the host needs to ask for it."""
_GATE_S = 1e-3
"""How long the device is kept busy meanwhile."""
_SIZES = (1024, 2048, 4096, 8192)
_LONG_ENOUGH_S = 1e-3
"""A product that takes so long has reached the rate of its format; a larger one is eight times as long."""


def measure_gpu(device: torch.device) -> DeviceRates:
    """Take about half a second of a GPU that is otherwise idle."""
    properties = torch.cuda.get_device_properties(device)
    cache_bytes = int(properties.L2_cache_size)
    with torch.cuda.device(device), torch.no_grad():
        copy, cached = _copy_rates(device, cache_bytes)
        with _tf32(False):  # a task may have allowed it
            float32 = _product_rate(_pairs(device, torch.float32), torch.mm)
        others = _other_formats(device)
        torch.cuda.empty_cache()
    return DeviceRates(
        copy_gb_per_s=copy,
        gflop_per_s=float32,
        cache_bytes=cache_bytes,
        num_cores=int(properties.multi_processor_count),
        cached_gb_per_s=cached,
        peak_gb_per_s=_peak(device),
        gflop_per_s_in=others,
    )


def _copy_rates(device: torch.device, cache_bytes: int) -> tuple[float, float | None]:
    """Of copies larger than the cache, and of copies that fit it; in GB/s."""
    free_bytes, _ = torch.cuda.mem_get_info(device)
    size = min(max(4 * cache_bytes, 64 << 20), _MOST_COPY_BYTES, free_bytes // 8)
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)
    moved = 2 * source.numel() * source.element_size()
    copy_s = min(
        _fastest_s(lambda: target.copy_(source)), _fastest_s(lambda: torch.neg(source, out=target))
    )
    part = cache_bytes // 4 // 4  # elements of a half, with room for what is unevenly spread
    if part <= 0:
        return moved / copy_s / 1e9, None
    small_source, small_target = source[:part], target[:part]

    def copy_small() -> None:
        for _ in range(_COPIES):
            torch.neg(small_source, out=small_target)

    gates = max(1, int(_GATE_S / copy_s))
    cached_s = _fastest_s(copy_small, gate=lambda: [target.copy_(source) for _ in range(gates)])
    return moved / copy_s / 1e9, _COPIES * 2 * part * 4 / cached_s / 1e9


def _other_formats(device: torch.device) -> dict[str, float]:
    """In GFLOP/s; what this card or this torch has not is left out."""
    rates = {}
    with contextlib.suppress(RuntimeError), _tf32(True):
        rates["tf32"] = _product_rate(_pairs(device, torch.float32), torch.mm)
    with contextlib.suppress(RuntimeError):
        rates["half"] = _product_rate(_pairs(device, torch.float16), torch.mm)
    with contextlib.suppress(RuntimeError):
        rates["float64"] = _product_rate(_pairs(device, torch.float64), torch.mm)
    with contextlib.suppress(RuntimeError, AttributeError):
        rates["int8"] = _product_rate(_pairs(device, torch.int8), _int8_product)
    return rates


def _pairs(device: torch.device, dtype: torch.dtype) -> Callable[[int], tuple[Tensor, Tensor]]:
    """Makes square matrices of a size; random ones, for equal numbers take less power."""

    def pair(size: int) -> tuple[Tensor, Tensor]:
        if dtype == torch.int8:
            a, b = (
                torch.randint(-100, 100, (size, size), dtype=dtype, device=device) for _ in range(2)
            )
        else:
            a, b = (torch.randn(size, size, dtype=dtype, device=device) for _ in range(2))
        return a, b

    return pair


def _int8_product(a: Tensor, b: Tensor) -> Tensor:
    """The library takes the second matrix by columns."""
    product: Tensor = torch._int_mm(a, b.t())
    return product


def _product_rate(
    pair: Callable[[int], tuple[Tensor, Tensor]], product: Callable[[Tensor, Tensor], Tensor]
) -> float:
    best = 0.0
    for size in _SIZES:
        a, b = pair(size)
        took_s = _fastest_s(lambda a=a, b=b: product(a, b))  # type: ignore[misc]
        best = max(best, 2 * size**3 / took_s / 1e9)
        if took_s >= _LONG_ENOUGH_S:
            break
    return best


@contextlib.contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _fastest_s(work: Callable[[], object], gate: Callable[[], object] | None = None) -> float:
    """The best of a few tries on the stream, without the host's time.

    Args:
        work: What is timed.
        gate: What keeps the device busy meanwhile; None is the work itself.
    """
    work()
    times = []
    for _ in range(_TRIES):
        start, end = _event(), _event()
        (gate or work)()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(float(start.elapsed_time(end)) / 1e3)
    return max(min(times), 1e-9)


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def _peak(device: torch.device) -> float | None:
    gpus = list_gpus()
    index = torch.cuda.current_device() if device.index is None else device.index
    return gpus[index].peak_gb_per_s if index < len(gpus) else None
