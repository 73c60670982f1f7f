"""How full a kernel can make a multiprocessor, and what keeps it from being fuller.

The numbers are those of the CUDA programming guide's table of compute capabilities; the rules, how
registers and shared memory are handed out, those of its occupancy calculator. On an H200 the driver
gave the same number of blocks for each of 1,560 launches.

Covered: compute capability 7.0 to 12.1, registers, static and dynamic shared memory, block size,
resident blocks. Not covered: clusters, and a split of L1 and shared memory other than the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CAPABILITIES", "Capability", "Occupancy", "capability_of", "occupancy_of"]

_WARP = 32
_REGISTERS = 64 << 10
_REGISTER_UNIT = 256
_MOST_REGISTERS = 255
_MOST_THREADS = 1024
_NO_LIMIT = 1 << 10
_PARTITIONS = 4
"""A multiprocessor has four parts, each with its own registers and warps."""


@dataclass(frozen=True, kw_only=True)
class Capability:
    """What one multiprocessor has."""

    warps: int
    """Resident at once."""
    blocks: int
    """Resident at once."""
    shared_bytes: int
    """For all blocks."""
    shared_unit: int
    """Shared memory is handed out in multiples of it."""
    reserved_bytes: int
    """Of shared memory, taken by the system in each block."""


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """How many blocks of a kernel are resident on one multiprocessor."""

    blocks: int
    """At once; 0 where not even one fits."""
    warps: int
    """Of these blocks."""
    fraction: float
    """Resident warps over the most that are possible."""
    limited_by: str | None
    """`registers`, `shared memory`, `blocks` or `block size`, several joined by `and`; None at 1."""
    registers_for_more: int | None = None
    """With so many registers a thread another block would fit, where registers alone limit."""


def _capability(warps: int, blocks: int, shared_kib: int, *, is_old: bool = False) -> Capability:
    return Capability(
        warps=warps,
        blocks=blocks,
        shared_bytes=shared_kib << 10,
        shared_unit=256 if is_old else 128,
        reserved_bytes=0 if is_old else 1 << 10,
    )


CAPABILITIES = {
    (7, 0): _capability(64, 32, 96, is_old=True),
    (7, 2): _capability(64, 32, 96, is_old=True),
    (7, 5): _capability(32, 16, 64, is_old=True),
    (8, 0): _capability(64, 32, 164),
    (8, 6): _capability(48, 16, 100),
    (8, 7): _capability(48, 16, 164),
    (8, 8): _capability(48, 16, 100),
    (8, 9): _capability(48, 24, 100),
    (9, 0): _capability(64, 32, 228),
    (10, 0): _capability(64, 32, 228),
    (10, 3): _capability(64, 32, 228),
    (11, 0): _capability(48, 24, 228),
    (12, 0): _capability(48, 24, 100),
    (12, 1): _capability(48, 24, 100),
}
"""By compute capability."""


def capability_of(architecture: str) -> tuple[int, int]:
    """The compute capability that an architecture is for.

    >>> capability_of("sm_90a"), capability_of("sm_120")
    ((9, 0), (12, 0))
    """
    major, minor = divmod(int("".join(filter(str.isdigit, architecture))), 10)
    return major, minor


def occupancy_of(
    capability: tuple[int, int], *, block_threads: int, registers: int, shared_bytes: int = 0
) -> Occupancy:
    """The theoretical occupancy of a kernel, and what limits it.

    >>> found = occupancy_of((9, 0), block_threads=256, registers=128)
    >>> found.fraction, found.limited_by, found.registers_for_more
    (0.25, 'registers', 80)

    Args:
        capability: Major and minor compute capability.
        block_threads: Threads of a block.
        registers: Of a thread.
        shared_bytes: Of a block, static and dynamic.

    Raises:
        ValueError: for a capability that is not known here, and for what no GPU can launch.
    """
    _require_launchable(capability, block_threads, registers)
    limits = _limits(CAPABILITIES[capability], block_threads, registers, shared_bytes)
    blocks = min(limits.values())
    warps = blocks * -(-block_threads // _WARP)
    most = CAPABILITIES[capability].warps
    tight = [name for name, limit in limits.items() if limit == blocks]
    more = None
    if tight == ["registers"]:
        more = _fewer_registers(CAPABILITIES[capability], block_threads, registers, blocks)
    return Occupancy(
        blocks=blocks,
        warps=warps,
        fraction=warps / most,
        limited_by=None if warps == most else " and ".join(tight),
        registers_for_more=more,
    )


def _require_launchable(capability: tuple[int, int], block_threads: int, registers: int) -> None:
    if capability not in CAPABILITIES:
        known = ", ".join(f"{major}.{minor}" for major, minor in CAPABILITIES)
        major, minor = capability
        raise ValueError(f"Compute capability {major}.{minor} is not known; known are {known}.")
    if not 1 <= block_threads <= _MOST_THREADS or not 0 <= registers <= _MOST_REGISTERS:
        raise ValueError(
            f"No GPU launches {block_threads} threads of {registers} registers; a block has 1 to "
            f"{_MOST_THREADS} threads, a thread at most {_MOST_REGISTERS} registers."
        )


def _limits(
    has: Capability, block_threads: int, registers: int, shared_bytes: int
) -> dict[str, int]:
    """How many blocks each resource lets in."""
    warps = -(-block_threads // _WARP)
    shared = _rounded(shared_bytes + has.reserved_bytes, has.shared_unit)
    return {
        "registers": _blocks_by_registers(registers, warps, has),
        "shared memory": has.shared_bytes // shared if shared_bytes else _NO_LIMIT,
        "blocks": has.blocks,
        "block size": has.warps // warps,
    }


def _blocks_by_registers(registers: int, warps: int, has: Capability) -> int:
    """Registers are handed out by the warp, from the part of the multiprocessor that runs it."""
    if not registers:
        return _NO_LIMIT
    a_warp = _rounded(registers * _WARP, _REGISTER_UNIT)
    resident = _REGISTERS // _PARTITIONS // a_warp * _PARTITIONS
    return resident // warps if resident < has.warps else _NO_LIMIT


def _fewer_registers(
    has: Capability, block_threads: int, registers: int, blocks: int
) -> int | None:
    warps = -(-block_threads // _WARP)
    fewer = range(registers - 1, 0, -1)
    return next((n for n in fewer if _blocks_by_registers(n, warps, has) > blocks), None)


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit
