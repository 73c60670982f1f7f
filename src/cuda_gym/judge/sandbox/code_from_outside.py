"""What of a process can be run, as the kernel tells it: no word of the process is needed for that.

Covered: code that should be closed and is not, where it belongs, whatever is mapped there, and wherever else its
file is; memory of no file that can be run, and could not before there was a submission: what a library does while
it is loaded comes before the rule that no memory becomes executable.
Not covered: code that is written into a private copy of some file; what a process did while nobody looked;
`limits.forbid_new_code` sees to it that what is closed stays so.
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
    "executable_mappings",
    "made_bytes",
    "nameless_code",
    "open_bytes",
    "refuse_closed_code",
    "require_closed",
]

_OF_THE_KERNEL = ("[vdso]", "[vsyscall]", "[uprobes]")
_NO_FILES = ("/dev/zero", "/memfd:", "/SYSV")
"""As the kernel names shared memory that is anonymous."""
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


def nameless_code(pidfd: int) -> frozenset[tuple[int, int]] | None:
    """Where a process has memory of no file that can be run; None where the kernel does not let us see."""
    try:
        return frozenset(_nameless(executable_mappings(pid_of(pidfd))))
    except OSError:
        return None


def require_closed(
    pidfd: int, closed: Sequence[CodeRange], nameless: frozenset[tuple[int, int]]
) -> None:
    """See to it that a process which could be looked at has closed what it should; one that is gone may have.

    Args:
        pidfd: Of it.
        closed: What it may not run.
        nameless: Memory of no file that it could run before there was a submission.

    Raises:
        Refused: it can run some of it, has made more, or does not let itself be looked at any more.
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
    if num_bytes := made_bytes(found, nameless):
        raise Refused(
            f"The submission made {num_bytes:,} bytes of memory executable while its kernels were loaded: "
            "compute in kernels that the judge compiles."
        )


def made_bytes(found: Sequence[ExecutableMapping], before: frozenset[tuple[int, int]]) -> int:
    """How much memory of no file can be run, and could not before."""
    return sum(
        end - start
        for start, end in _nameless(found)
        if not any(first <= start and end <= last for first, last in before)
    )


def _nameless(found: Sequence[ExecutableMapping]) -> list[tuple[int, int]]:
    return [
        (mapping.start, mapping.end)
        for mapping in found
        if mapping.path.startswith(_NO_FILES)
        or (not mapping.path.startswith("/") and mapping.path not in _OF_THE_KERNEL)
    ]


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
    places = sorted((code.start, code.start + code.num_bytes) for code in closed)
    by_file: dict[int, list[tuple[int, int]]] = {}
    for code in sorted(closed, key=lambda code: code.offset):
        by_file.setdefault(code.inode, []).append((code.offset, code.offset + code.num_bytes))
    total = 0
    for mapping in found:
        parts = by_file.get(mapping.inode, [])
        first, last = mapping.offset, mapping.offset + mapping.end - mapping.start
        if not parts:  # something else may have taken its place
            parts, first, last = places, mapping.start, mapping.end
        for start, end in parts[bisect.bisect_right(parts, first, key=lambda part: part[1]) :]:
            if start >= last:
                break
            total += min(end, last) - max(start, first)
    return total
