"""What of a process can be run, as the kernel tells it: no word of the process is needed for that.

Covered: code that should be closed and is not, where it belongs and wherever else its file is mapped.
Not covered: what a process did while nobody looked; `limits.forbid_new_code` sees to it that what is closed
stays so.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cuda_gym.errors import Refused
from cuda_gym.judge.sandbox.freezing import pid_of
from cuda_gym.judge.sandbox.messages import CodeRange

__all__ = [
    "CodeRange",
    "ExecutableMapping",
    "can_be_looked_at",
    "executable_mappings",
    "open_bytes",
    "refuse_closed_code",
    "require_closed",
]

_OUTSIDE_KERNELS = re.compile(r"illegal address (0x[0-9a-f]+) outside any kernel")


class ExecutableMapping(NamedTuple):
    """A part of a process's memory that can be run."""

    start: int
    end: int
    offset: int
    """In the file."""
    inode: int
    path: str

    def part(self, start: int, end: int) -> CodeRange:
        """A part of it."""
        return CodeRange(
            start=start,
            num_bytes=end - start,
            inode=self.inode,
            offset=self.offset + start - self.start,
        )


def executable_mappings(pid: int) -> list[ExecutableMapping]:
    """All of a process.

    Raises:
        OSError: it may not be looked at, or is gone.
    """
    found = []
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        span, flags, offset, _device, inode, *path = line.split(None, 5)
        if "x" in flags:
            start, end = (int(address, 16) for address in span.split("-"))
            place = int(offset, 16), int(inode)
            found.append(ExecutableMapping(start, end, *place, path[0] if path else ""))
    return found


def can_be_looked_at(pidfd: int) -> bool:
    """Whether the kernel lets us see what a process may run."""
    try:
        with Path(f"/proc/{pid_of(pidfd)}/maps").open():
            return True
    except OSError:
        return False


def require_closed(pidfd: int, closed: Sequence[CodeRange]) -> None:
    """See to it that a process which could be looked at has closed what it should; one that is gone may have.

    Raises:
        Refused: it can run some of it, or does not let itself be looked at any more.
    """
    if not closed:
        return
    try:
        found = executable_mappings(pid_of(pidfd))
    except PermissionError:
        raise Refused(
            "The submission's process has hidden what it may run, which it had no need to: "
            "leave the process as it is."
        ) from None
    except OSError:
        return
    if num_bytes := open_bytes(found, closed):
        raise Refused(
            f"The submission kept {num_bytes:,} bytes of the code that computes for torch from being "
            "closed before forward is called: compute in your own kernels."
        )


def refuse_closed_code(fault: str, closed: Sequence[CodeRange]) -> None:
    """Tell whose code it was that a process died of.

    Args:
        fault: What the fault handler wrote.
        closed: What may not be run.

    Raises:
        Refused: it lies there.
    """
    match = _OUTSIDE_KERNELS.search(fault)
    address = int(match[1], 16) if match else 0
    if any(code.start <= address < code.start + code.num_bytes for code in closed):
        raise Refused(
            f"forward ran code of torch or NumPy at {address:#x}, past torch's table of operators; "
            "what computes there is closed while a submission is judged: compute in your own kernels."
        )


def open_bytes(found: Sequence[ExecutableMapping], closed: Sequence[CodeRange]) -> int:
    """How much of what should be closed can be run, under its own address or another."""
    by_file: dict[int, list[tuple[int, int]]] = {}
    for code in sorted(closed, key=lambda code: code.offset):
        by_file.setdefault(code.inode, []).append((code.offset, code.offset + code.num_bytes))
    total = 0
    for mapping in found:
        parts = by_file.get(mapping.inode, [])
        first, last = mapping.offset, mapping.offset + mapping.end - mapping.start
        for start, end in parts[bisect.bisect_right(parts, first, key=lambda part: part[1]) :]:
            if start >= last:
                break
            total += min(end, last) - max(start, first)
    return total
