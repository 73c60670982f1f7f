"""What a task asks for and what the machine can do, found out in a reference's process and remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import torch

from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import DeviceRates, Work
from cuda_gym.judge.profiling.rates import best_rates, measure_rates, read_rates
from cuda_gym.judge.profiling.telemetry import waited_for_cores_us
from cuda_gym.judge.sandbox.records import load_record, save_record
from cuda_gym.judge.verification.work import read_work

__all__ = ["known_rates", "known_work"]

_QUIET_ENOUGH = 3
"""So many measurements during which no thread of this machine waited for a core."""
_MOST_MEASUREMENTS = 8
"""On a machine that is never quiet; the best one counts."""
_MAX_WAITING = 0.1
"""Share of a measurement's time that threads may wait."""


def known_work(folder: Path, key: str, find_out: Callable[[], Work]) -> Work:
    """What a task asks for; found out once."""
    work = read_work(load_record(folder, key))
    if work is None:
        work = find_out()
        save_record(folder, key, as_plain(work))
    return work


@cache
def known_rates(folder: Path, key: str, device: torch.device) -> DeviceRates:
    """What the machine can do; measured once in this process, where that was not done often enough."""
    record = load_record(folder, key) or {}
    rates = read_rates(record)
    quiet, measured = (_count(record, name) for name in ("quiet", "measured"))
    if rates is not None and (quiet >= _QUIET_ENOUGH or measured >= _MOST_MEASUREMENTS):
        return rates
    waited_us, start = waited_for_cores_us(), time.monotonic()
    latest = measure_rates(device)
    waiting = (waited_for_cores_us() - waited_us) / ((time.monotonic() - start) * 1e6)
    rates = latest if rates is None else best_rates(rates, latest)
    counts = {"quiet": quiet + (waiting <= _MAX_WAITING), "measured": measured + 1}
    save_record(folder, key, {**as_plain(rates), **counts})
    return rates


def _count(record: Mapping[str, object], name: str) -> int:
    count = record.get(name)
    return count if isinstance(count, int) else 0
