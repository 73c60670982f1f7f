"""What the hardware counted of each kernel, and what that says of it. Pure.

A kernel is bound by the first of these that holds:

    memory       the memory's bus is busy most of the time
    arithmetic   a pipe of the multiprocessors, or the tensor cores, are
    parallelism  the grid does not fill the device once
    access       most of what was loaded or stored was not asked for, or banks of shared memory conflict
    latency      nothing of that: warps wait, and what for is told

The thresholds are those of `next_limit`, which says of the whole call what this says of one kernel.
"""

from __future__ import annotations

from cuda_gym.core.kernel_counters import KernelCounters
from cuda_gym.core.verdict import Profile
from cuda_gym.envs.feedback.words import describe_bytes, describe_time, joined

__all__ = ["conclusion", "describe_counters"]

_MOST_KERNELS = 3
_MAX_NAME_CHARS = 60
_BUSY = 70.0
_WASTED = 60.0
"""Sectors of which less was asked for are worth a change."""
_CONFLICTING = 25.0
_IDLE_TENSOR = 5.0
"""Below it tensor cores are not worth a word."""


def describe_counters(profile: Profile) -> str:
    """A few lines for each of the kernels that took most; empty where nothing was counted."""
    if not profile.counters:
        return ""
    shown = profile.counters[:_MOST_KERNELS]
    left = len(profile.counters) - len(shown)
    return joined(
        "Counters of one call with cold caches, as the submission's process had them counted:",
        *(line for kernel in shown for line in _kernel(kernel)),
        f"  ... and {left} more kernels." if left else "",
    )


def conclusion(kernel: KernelCounters) -> str:
    """What binds a kernel, in a sentence with the number that says so."""
    for test in (_memory, _arithmetic, _parallelism, _access):
        if text := test(kernel):
            return text
    return _latency(kernel)


def _kernel(kernel: KernelCounters) -> list[str]:
    times = f", the longest of {kernel.launches} launches" if kernel.launches > 1 else ""
    grid = _facts(
        ("{:,} blocks", kernel.grid_blocks),
        ("of {:,} threads", kernel.block_threads),
    ).replace(", of", " of")
    name = kernel.name[:_MAX_NAME_CHARS]
    head = f"  {name}: {describe_time(kernel.duration_us)}{times}{f', {grid}' if grid else ''}"
    lines = (
        ("memory", _memory_facts(kernel)),
        ("caches", _cache_facts(kernel)),
        ("multiprocessors", _sm_facts(kernel)),
        ("occupancy", _occupancy_facts(kernel)),
        ("warps wait for", ", ".join(f"{what} ({count:.1f})" for what, count in kernel.stalls)),
    )
    return [
        head,
        f"    {conclusion(kernel)}",
        *(f"    {title}: {facts}" for title, facts in lines if facts),
    ]


def _memory_facts(kernel: KernelCounters) -> str:
    moved = None if kernel.dram_bytes is None else describe_bytes(kernel.dram_bytes)
    return _facts(
        ("{:.0f}% of its peak", kernel.dram_percent),
        ("{:,.0f} GB/s", kernel.dram_gb_per_s),
        ("{} moved", moved),
    )


def _cache_facts(kernel: KernelCounters) -> str:
    return _facts(
        ("L2 hits {:.0f}%", kernel.l2_hit_percent),
        ("L1 hits {:.0f}%", kernel.l1_hit_percent),
        ("of each sector loaded {:.0f}% is used", kernel.load_efficiency_percent),
        ("of each stored {:.0f}%", kernel.store_efficiency_percent),
        ("{:.1f} sectors a load", kernel.sectors_per_load),
    )


def _sm_facts(kernel: KernelCounters) -> str:
    tensor = kernel.tensor_percent
    conflicts = kernel.bank_conflicts
    return _facts(
        ("{:.0f}% busy", kernel.sm_percent),
        ("tensor cores {:.0f}%", tensor if tensor is not None and tensor >= _IDLE_TENSOR else None),
        ("{:,.0f} bank conflicts", conflicts or None),
        ("{:.0f}% of the passes over shared memory", kernel.bank_conflict_percent or None),
    )


def _occupancy_facts(kernel: KernelCounters) -> str:
    return _facts(
        ("{:.0f}% reached", kernel.occupancy_percent),
        ("{:.0f}% possible", kernel.theoretical_occupancy_percent),
        ("limited by {}", kernel.limited_by),
        ("{} registers a thread", kernel.registers),
        ("{:,} bytes of shared memory a block", kernel.shared_bytes),
    )


def _memory(kernel: KernelCounters) -> str | None:
    busy = kernel.dram_percent
    if busy is None or busy < _BUSY or busy < (kernel.sm_percent or 0.0):
        return None
    return (
        f"Memory-bound: the memory is {busy:.0f}% busy. Only moving fewer bytes helps: fuse, read "
        "each byte once, use narrower types where the task allows them."
    )


def _arithmetic(kernel: KernelCounters) -> str | None:
    tensor, busy = kernel.tensor_percent or 0.0, kernel.sm_percent or 0.0
    if tensor >= _BUSY:
        return (
            f"Compute-bound: the tensor cores are {tensor:.0f}% busy. Only less arithmetic helps."
        )
    if busy < _BUSY:
        return None
    return (
        f"Compute-bound: the multiprocessors are {busy:.0f}% busy. Fewer instructions help: wider "
        "loads, less index arithmetic, tensor cores for products."
    )


def _parallelism(kernel: KernelCounters) -> str | None:
    blocks, units = kernel.grid_blocks, kernel.num_multiprocessors
    if blocks is None or units is None or blocks >= units:
        return None
    return (
        f"Too few blocks: {blocks:,} for {units} multiprocessors. Split the work over more of them."
    )


def _access(kernel: KernelCounters) -> str | None:
    used = [
        percent
        for percent in (kernel.load_efficiency_percent, kernel.store_efficiency_percent)
        if percent  # zero where nothing was accessed
    ]
    if used and min(used) < _WASTED:
        return (
            f"Scattered access: {min(used):.0f}% of what moves in sectors of 32 bytes is asked for. "
            "Let neighbouring threads touch neighbouring addresses."
        )
    if (kernel.bank_conflict_percent or 0.0) >= _CONFLICTING:
        return (
            f"Bank conflicts: {kernel.bank_conflict_percent:.0f}% of the passes over shared memory "
            "repeat others. Pad rows by one element, or change which thread reads what."
        )
    return None


def _latency(kernel: KernelCounters) -> str:
    busiest = _facts(
        ("memory {:.0f}%", kernel.dram_percent), ("multiprocessors {:.0f}%", kernel.sm_percent)
    )
    said = f": nothing is full ({busiest})" if busiest else ""
    if not kernel.stalls:
        return f"Latency-bound{said}."
    what = kernel.stalls[0][0]
    if what == "__syncthreads()":
        return f"Latency-bound{said}; warps wait at barriers. Fewer of them, or smaller blocks."
    more = "more independent loads a thread in flight"
    occupancy = kernel.theoretical_occupancy_percent
    if occupancy is not None and occupancy < 50.0 and kernel.limited_by:
        more += f", or more warps (limited by {kernel.limited_by} now)"
    return f"Latency-bound{said}; warps wait for {what}. What helps: {more}."


def _facts(*facts: tuple[str, object]) -> str:
    """The templates whose value is known, filled in."""
    return ", ".join(template.format(value) for template, value in facts if value is not None)
