"""What the hardware counted while one kernel ran: told, never paid."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KernelCounters"]


@dataclass(frozen=True, kw_only=True)
class KernelCounters:
    """The counters of a kernel's longest launch in one call; None where the device does not say.

    Shares are percentages, 0 to 100, as NVIDIA's tools give them.
    """

    name: str
    launches: int
    """That were counted in the call."""
    duration_us: float
    """Of the longest launch, with cold caches."""
    grid_blocks: int | None = None
    block_threads: int | None = None
    num_multiprocessors: int | None = None
    waves: float | None = None
    """How often the grid fills the device."""
    dram_percent: float | None = None
    """Of the memory's peak."""
    dram_bytes: float | None = None
    """Moved between the memory and the L2 cache."""
    l2_hit_percent: float | None = None
    l1_hit_percent: float | None = None
    sm_percent: float | None = None
    """Of what the multiprocessors can issue: the busiest of their pipes."""
    tensor_percent: float | None = None
    """Of the tensor cores' issue slots."""
    occupancy_percent: float | None = None
    """Warps that were there, of the most that fit a multiprocessor."""
    theoretical_occupancy_percent: float | None = None
    """The same, as registers, shared memory and block size allow it."""
    limited_by: str | None = None
    """What allows no more: `registers`, `shared memory`, `blocks` or `block size`."""
    registers: int | None = None
    """Of a thread."""
    shared_bytes: int | None = None
    """Of a block, what the driver takes included."""
    load_efficiency_percent: float | None = None
    """Bytes that threads asked for, of the bytes in the sectors that were loaded for them."""
    store_efficiency_percent: float | None = None
    sectors_per_load: float | None = None
    """Sectors of 32 bytes that one load of a warp touches: 4 for neighbouring floats, 16 for float4."""
    bank_conflicts: float | None = None
    """Extra passes over shared memory."""
    bank_conflict_percent: float | None = None
    """The same, of all passes."""
    stalls: tuple[tuple[str, float], ...] = ()
    """What warps waited for, the most first, and how many warps waited an instruction issued."""

    @property
    def dram_gb_per_s(self) -> float | None:
        """Bytes moved over the duration."""
        if self.dram_bytes is None or self.duration_us <= 0:
            return None
        return self.dram_bytes / self.duration_us / 1e3
