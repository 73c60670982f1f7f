"""The state of the device around the timed calls. What it does not say is None, never an error."""

from __future__ import annotations

import os
import statistics
from collections.abc import Collection
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.verdict import Telemetry
from cuda_gym.judge.profiling.gpus import list_gpus
from cuda_gym.judge.profiling.nvml import read_gpu

PRESSURE = Path("/proc/pressure/cpu")
"""Where Linux counts how long threads wait for a core: only with PSI, and hardly in a sandbox."""


def read_device(device: Device, *, own_pids: Collection[int] = ()) -> Telemetry:
    """The state of a device.

    Args:
        device: Which; one that is not there tells nothing.
        own_pids: Processes that are not counted as others.
    """
    if device.kind == "cpu":
        return read_cpu()
    uuids = [gpu.uuid for gpu in list_gpus() if gpu.index == device.index]
    return read_gpu(uuids[0], own_pids=own_pids) if uuids else Telemetry()


def device_name(device: Device, *, num_threads: int) -> str:
    """The hardware as a fingerprint names it: a GPU with its driver, a processor with its threads."""
    if device.kind == "cpu":
        return f"{cpu_name()}, {num_threads} threads"
    told = [gpu.description for gpu in list_gpus() if gpu.index == device.index]
    return told[0] if told else str(device)


def read_cpu() -> Telemetry:
    """Clock and load of this machine's processor."""
    return Telemetry(clock_mhz=_clock_mhz(), temperature_c=_temperature_c(), load=_load())


def waited_for_cores_us(counter: Path = PRESSURE) -> float:
    """How long some thread of this machine waited for a core, in all; 0 where it is not counted."""
    return next((float(line.rpartition("total=")[2]) for line in _waiting(counter)), 0.0)


def counts_waiting(counter: Path = PRESSURE) -> bool:
    """Whether that is counted on this machine."""
    return bool(_waiting(counter))


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_name() -> str:
    """Model of the processor, as the kernel names it."""
    for line in _lines("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "CPU part"}:
            return value.strip()
    return os.uname().machine


def last_level_cache_bytes() -> int:
    """Size of the largest cache that core 0 sees; 32 MiB where the kernel does not say."""
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        for text in _lines(str(path))[:1]:
            number, unit = text[:-1], text[-1:]
            if number.isdecimal() and unit in "KM":
                sizes.append(int(number) << (10 if unit == "K" else 20))
    return max(sizes, default=32 << 20)


def _waiting(counter: Path) -> list[str]:
    return [line for line in _lines(str(counter)) if line.startswith("some ")]


def _clock_mhz() -> float | None:
    clocks = [
        float(line.partition(":")[2]) for line in _lines("/proc/cpuinfo") if "cpu MHz" in line
    ]
    return statistics.fmean(clocks) if clocks else None


def _temperature_c() -> float | None:
    try:
        paths = list(Path("/sys/class/thermal").glob("thermal_zone*/temp"))
    except OSError:
        return None
    values = [
        int(text) / 1000.0
        for path in paths
        for text in _lines(str(path))[:1]
        if text.lstrip("-").isdecimal()
    ]
    return max(values) if values else None


def _load() -> float | None:
    try:
        return os.getloadavg()[0] / num_cores()
    except OSError:
        return None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
