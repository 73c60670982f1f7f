"""What would put right what the memory check has found, in one sentence.

It knows a finding and no source, so it names the usual cause of its kind, with the names and lines of
the finding; a cause that is not usual is for whoever reads both lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from cuda_gym.core.findings import MemoryFinding

__all__ = ["remedy"]


def remedy(finding: MemoryFinding) -> str:
    """How a finding is usually repaired; a sentence without its full stop."""
    return _REMEDIES[finding.kind](finding) if finding.kind in _REMEDIES else ""


_NAME = re.compile(r"`([^`]+)`")
_COUNTS = re.compile(r"([\d,]+) of the ([\d,]+) bytes")
_INDEX = re.compile(r"index (\d+), and (\d+) is the last")
_LARGEST_BLOCK = 1024
_ARRAY = re.compile(r"index (-?\d+) of an array of type '[^']*\[(\d+)\]'")


def _name(finding: MemoryFinding, otherwise: str) -> str:
    found = _NAME.search(finding.text)
    return f"`{found[1]}`" if found else otherwise


def _out_of_bounds(finding: MemoryFinding) -> str:
    text = finding.text
    if array := _ARRAY.search(text):
        return f"keep the index between 0 and {int(array[2]) - 1}, or make the array larger"
    if "null pointer" in text:
        return "pass a tensor for that pointer, not None"
    if "shared memory" in text:
        size = "give it more bytes at the launch or in its declaration, or keep the index below its end"
        return f"{_name(finding, 'the array')} is too small for that index: {size}"
    if " before " in text:
        return f"the index into {_name(finding, 'it')} is negative: guard it with `if (i >= 0)`"
    index = _INDEX.search(text)
    if index and int(index[1]) - int(index[2]) > _LARGEST_BLOCK:
        return (
            f"look at how the index into {_name(finding, 'the tensor')} is computed, and at the size it "
            "was allocated with: it is past the end by more than a block"
        )
    return (
        f"guard the access with `if (i < n)`, where i is the index and n the number of elements of "
        f"{_name(finding, 'the tensor')}: the last block has more threads than elements are left"
    )


def _unset_variable(finding: MemoryFinding) -> str:
    return f"give {_name(finding, 'it')} a value where it is declared: 0 for a sum, -INFINITY for a maximum"


def _data_race(finding: MemoryFinding) -> str:
    if "blocks of a launch" in finding.text:
        return (
            "let each block write elements of its own, or use atomicAdd, or a second kernel for what "
            "needs the result of all blocks; where a block runs over into its neighbour's elements, guard "
            "with `if (i < n)`"
        )
    lines = sorted({side.line for side in finding.sides if side.line is not None})
    is_one_line = len(lines) == 1
    if is_one_line and all(side.does in ("writes", "wrote it") for side in finding.sides):
        return "let one thread write it (`if (threadIdx.x == 0)`), or give each thread an element"
    where = "between the two"
    if lines:
        where = (
            f"behind line {lines[0]}"
            if is_one_line
            else f"between line {lines[0]} and line {lines[-1]}"
        )
    loop = "inside of it" if is_one_line else "one at its end as well"
    warp = (
        " (`__syncwarp();` where a single warp is at work)" if "__syncwarp" in finding.text else ""
    )
    return f"put `__syncthreads();` {where}{warp}, where every thread reaches it; in a loop, {loop}"


def _uninitialised_read(finding: MemoryFinding) -> str:
    name = _name(finding, "it")
    if "shared memory" in finding.text:
        return (
            f"write {name} first, all of it that is read, and put `__syncthreads();` before other "
            "threads read it"
        )
    return f"write {name} before it is read: torch.empty leaves it undefined, torch.zeros does not"


def _misaligned_access(_: MemoryFinding) -> str:
    return (
        "a float4 needs an address that is a multiple of 16 bytes, a float2 one of 8: use it only "
        "where the first index and the row length are multiples of 4 (or 2), and single floats "
        "elsewhere"
    )


def _unwritten_output(finding: MemoryFinding) -> str:
    counts = _COUNTS.match(finding.text)
    if counts and counts[1] == counts[2]:
        return "launch a kernel that writes to the tensor that forward returns"
    return (
        "make the grid cover all elements, (n + 255) / 256 blocks of 256 threads for n of them, and "
        "look at the guard `if (i < n)`"
    )


_REMEDIES: Mapping[str, Callable[[MemoryFinding], str]] = {
    "out of bounds": _out_of_bounds,
    "data race": _data_race,
    "uninitialised read": _uninitialised_read,
    "divergent barrier": lambda _: (
        "every thread of the block has to reach the same barrier: take it out of the `if`, and "
        "return from the kernel only behind it"
    ),
    "mismatched mask": lambda _: (
        "name exactly the lanes that reach the call; 0xffffffff is right only where all 32 do"
    ),
    "deadlock": lambda _: (
        "let no thread wait for one that cannot go on: every thread has to reach each barrier, and "
        "no block may wait for another"
    ),
    "misaligned access": _misaligned_access,
    "host access": lambda _: "let a kernel do what host code does there",
    "unwritten output": _unwritten_output,
    "unset variable": _unset_variable,
}
