"""Calls that are timed by the wall clock, and caches that are emptied before them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from cuda_gym.judge.profiling.telemetry import last_level_cache_bytes

Kept = TypeVar("Kept")

_MAX_CACHE_BYTES = 64 << 20
_evicting: list[torch.Tensor] = []


def timed_calls(
    model: Callable[..., Any],
    calls: Sequence[Sequence[Any]],
    *,
    keep: Callable[[Any], Kept],
) -> tuple[list[float], list[Kept]]:
    """Call once for each list of arguments, without gradients and without garbage collection.

    Args:
        model: what is called.
        calls: positional arguments of each call.
        keep: what to keep of a result; run between the calls, not timed.

    Returns:
        Microseconds of each call, and what was kept of each.
    """
    durations: list[float] = []
    kept: list[Kept] = []
    gc.disable()
    try:
        with torch.no_grad():
            for arguments in calls:
                start = time.perf_counter_ns()
                value = model(*arguments)
                durations.append((time.perf_counter_ns() - start) / 1000.0)
                kept.append(keep(value))
    finally:
        gc.enable()
    return durations, kept


def evict_caches(streamed_bytes: int = 0) -> None:
    """Write twice the last-level cache, so that nothing else is left in it.

    Args:
        streamed_bytes: of contents that are read one after the other: where they fill the cache
            twice by themselves, each is gone before its turn comes, and nothing is to be done.
    """
    num_bytes = 2 * min(last_level_cache_bytes(), _MAX_CACHE_BYTES)
    if streamed_bytes >= num_bytes:
        return
    if not _evicting:
        _evicting.append(torch.zeros(num_bytes // 4))
    _evicting[0].add_(1.0)
