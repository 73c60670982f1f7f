"""What the judge's own process must know of a device: one place that tells the kinds apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.judge.profiling.gpus import find_gpu
from cuda_gym.judge.profiling.memory_budget import COPIES, contents_of_card
from cuda_gym.judge.profiling.memory_seals import seals_future_writes
from cuda_gym.judge.profiling.telemetry import PRESSURE, counts_waiting
from cuda_gym.judge.profiling.timing_plan import (
    CPU_PLAN,
    GPU_PLAN,
    REMAPPING_CPU_PLAN,
    TimingPlan,
    without_counters,
)

__all__ = ["DeviceFacts", "facts_of"]

_DRIVER_BYTES = 64 << 30
"""Address space that a CUDA driver reserves, beside what it maps of the device (measured: enough)."""


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """How a device is judged on."""

    plan: TimingPlan
    transport: str
    """As the fingerprint names it."""
    address_bytes: int
    """Address space that its driver takes, beyond what a submission may."""
    host_disturbs: bool
    """Whether work of the host, as a compiler's, takes what is timed: the cores."""
    ends_disturb: bool
    """Whether the end of a process takes what is timed: its memory is cleared by the device."""


def facts_of(device: Device, *, pressure: Path = PRESSURE) -> DeviceFacts:
    """The facts of a device.

    Args:
        device: Which.
        pressure: Where Linux counts how long threads wait for a core.

    Raises:
        MissingTool: there is no such GPU.
    """
    if device.kind == "cpu":
        writes_again = seals_future_writes()
        plan = CPU_PLAN if writes_again else REMAPPING_CPU_PLAN
        return DeviceFacts(
            plan=plan if counts_waiting(pressure) else without_counters(plan),
            transport="sealed memfd" if writes_again else "sealed memfd, mapped anew",
            address_bytes=0,
            host_disturbs=True,
            ends_disturb=False,
        )
    gpu = find_gpu(device)
    can_share = gpu.exports_memory and find_spec("cuda") is not None
    shared = "exported allocations" if can_share else "copies through sealed memfd"
    return DeviceFacts(
        plan=replace(
            GPU_PLAN,
            max_content_bytes=contents_of_card(gpu.memory_bytes) // COPIES,
        ),
        transport=shared,
        address_bytes=_DRIVER_BYTES + 4 * gpu.memory_bytes,
        host_disturbs=False,
        ends_disturb=True,
    )
