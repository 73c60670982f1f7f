"""A launch that a GPU refused, in words: what was asked for, why it cannot be had, and the way out.

Covered: grids and blocks that no GPU takes, blocks that the registers of a kernel do not allow, more
shared memory than is given without being asked or than there is, cooperative grids that do not fit,
code of another architecture. Whatever else goes wrong is told in the driver's own words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["FailedLaunch", "describe_failed_launch", "describe_later_error"]

_MOST_THREADS = 1024
_MOST_THREADS_Z = 64
_MOST_BLOCKS = (2**31 - 1, 65535, 65535)


@dataclass(frozen=True, kw_only=True)
class FailedLaunch:
    """What was asked for, and what there is; None where that is not known."""

    kernel: str
    text: str
    """The driver's own words: `invalid configuration argument`."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    """Dynamic shared memory of a block, as it was asked for."""
    static_bytes: int | None = None
    """Static shared memory of a block."""
    allowed_shared_bytes: int | None = None
    """The most dynamic shared memory that this kernel may be launched with as things are."""
    default_shared_bytes: int | None = None
    """What the device gives a block without being asked."""
    most_shared_bytes: int | None = None
    """What it gives on request."""
    registers: int | None = None
    """Of a thread."""
    most_block_threads: int | None = None
    """Of this kernel."""
    resident_blocks: int | None = None
    """Of this kernel, on the whole device at once; where the launch is cooperative."""


def describe_failed_launch(launch: FailedLaunch) -> str:
    """One sentence for the agent.

    >>> launch = FailedLaunch(kernel="scale", text="invalid configuration argument",
    ...                       grid=(0, 1, 1), block=(256, 1, 1))
    >>> print(describe_failed_launch(launch))  # doctest: +NORMALIZE_WHITESPACE
    kernel scale was launched with grid (0,1,1) and block (256,1,1): invalid configuration argument; a
    grid has at least 1 block; launch nothing where there is nothing to compute
    """
    why = (
        _why_not_block(launch)
        or _why_not_grid(launch)
        or _why_not_shared(launch)
        or _why_not_resident(launch)
        or _why_not_loaded(launch)
    )
    return f"{_said(launch)} was launched with {_asked(launch)}: {launch.text}{why and f'; {why}'}"


def describe_later_error(text: str, last: FailedLaunch | None) -> str:
    """An error that shows after its launch: the last launch is the first to be looked at.

    Args:
        text: The driver's own words.
        last: The last launch before the error was found; None where nothing was launched.
    """
    if last is None:
        return f"{text}, in a call of the CUDA runtime; no kernel was launched before it"
    return f"{text}; found after the launch of {_said(last)} with {_asked(last)}"


def _said(launch: FailedLaunch) -> str:
    return launch.kernel if launch.kernel == "CUDA graph" else f"kernel {launch.kernel}"


def _asked(launch: FailedLaunch) -> str:
    shared = launch.shared_bytes
    more = f" and {shared:,} bytes of dynamic shared memory" if shared else ""
    return f"grid {_index(launch.grid)} and block {_index(launch.block)}{more}"


def _index(index: tuple[int, int, int]) -> str:
    return f"({','.join(map(str, index))})"


def _why_not_block(launch: FailedLaunch) -> str:
    threads = math.prod(launch.block)
    if not 1 <= threads <= _MOST_THREADS:
        return (
            f"a block has 1 to {_MOST_THREADS} threads, not {threads:,}; "
            "take a smaller block and more blocks"
        )
    if launch.block[2] > _MOST_THREADS_Z:
        return f"a block has at most {_MOST_THREADS_Z} threads along z; use x and y"
    most = launch.most_block_threads
    if most is not None and 0 < most < threads:
        registers = (
            "" if launch.registers is None else f" with its {launch.registers} registers a thread"
        )
        return (
            f"{_said(launch)}{registers} takes at most {most} threads a block, not {threads}; launch "
            f"fewer, or write __launch_bounds__({threads}) in front of its name"
        )
    return ""


def _why_not_grid(launch: FailedLaunch) -> str:
    if min(launch.grid) < 1:
        return "a grid has at least 1 block; launch nothing where there is nothing to compute"
    if any(size > most for size, most in zip(launch.grid, _MOST_BLOCKS, strict=True)):
        return "a grid has at most 65535 blocks along y and z, and 2147483647 along x; use x for what is long"
    return ""


def _why_not_shared(launch: FailedLaunch) -> str:
    asked, most = launch.shared_bytes, launch.most_shared_bytes
    total = asked + (launch.static_bytes or 0)
    beside = f" beside {launch.static_bytes:,} static ones" if launch.static_bytes else ""
    if most is not None and 0 < most < total:
        return (
            f"this device gives a block at most {most:,} bytes of shared memory, not "
            f"{asked:,}{beside}; take smaller tiles"
        )
    allowed = launch.allowed_shared_bytes
    if allowed is None:
        allowed = launch.default_shared_bytes
    if allowed is None or asked <= allowed:
        return ""
    on_request = "" if most is None else f", up to {most:,} on this device"
    return (
        f"without being asked the device gives this kernel {allowed:,} bytes{beside}; call "
        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        f"{asked}) before the launch{on_request}"
    )


def _why_not_resident(launch: FailedLaunch) -> str:
    blocks, most = math.prod(launch.grid), launch.resident_blocks
    if most is None or not 0 <= most < blocks:
        return ""
    return (
        f"all {blocks:,} blocks of a cooperative launch are resident at once, and {most:,} fit; "
        "launch no more than that, and let each do more"
    )


def _why_not_loaded(launch: FailedLaunch) -> str:
    if "no kernel image" not in launch.text:
        return ""
    return "the library holds no code for this GPU's architecture; build it again for this device"
