"""What a candidate process asks of the kernels of a build, whatever device they run on.

Not covered: whether it is true. A submission shares its process with whoever answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["KernelRuntime", "LaunchedKernel"]


@dataclass(frozen=True, kw_only=True)
class LaunchedKernel:
    """What became of one kernel since `time_kernels`."""

    name: str
    launches: int
    total_ns: int
    """Of all its launches; on a GPU by events around each."""
    grid: tuple[int, int, int]
    """Of its longest launch."""
    block: tuple[int, int, int]


class KernelRuntime(Protocol):
    """The loaded kernels of one build."""

    def num_launches(self) -> int:
        """Kernels launched in this process so far; launches that were refused do not count."""
        ...

    def take_error(self) -> str | None:
        """What went wrong in the first launch that failed since the last call; None where none did."""
        ...

    def describe_fault(self, fault: str) -> str:
        """What the device says of a kernel that it has stopped, with the last launch before it."""
        ...

    def time_kernels(self, on: bool) -> None:
        """Forget the times of kernels, and take them from now on, or no longer."""
        ...

    def launched_kernels(self) -> tuple[LaunchedKernel, ...]:
        """What was launched since `time_kernels`, in the order of the first launches."""
        ...
