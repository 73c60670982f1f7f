"""What `nvcc -Xptxas=-v` says that each kernel takes.

Covered: the wording of CUDA 11 to 13, several architectures in one run, device functions that are
not inlined (they are no kernels), names of C++ with templates and namespaces. Not covered: template
arguments that are types built from other arguments; such a kernel is told as `name<...>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cuda_gym.core.findings import KernelResources
from cuda_gym.judge.toolchains.mangled_names import plain_name
from cuda_gym.judge.toolchains.occupancy import CAPABILITIES, occupancy_of

__all__ = ["read_resources", "with_occupancy"]

_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '(?P<architecture>sm_\w+)'")
_FUNCTION = re.compile(r"Function properties for (?P<name>\S+)")
_STACK = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"\bUsed (?P<registers>\d+) registers\b(?P<rest>.*)")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_CONSTANT = re.compile(r"(\d+)(?:\+\d+)? bytes cmem\[\d+\]")


def read_resources(said: str, *, architecture: str | None = None) -> tuple[KernelResources, ...]:
    """What each kernel takes, in the order of the compiler.

    Args:
        said: All that the compiler printed; other lines are passed over.
        architecture: Such as `sm_90`; None takes the first that each kernel was compiled for.
    """
    kernels: dict[str, KernelResources] = {}
    for entry in _entries(said.splitlines()):
        if architecture in (None, entry.architecture) and entry.resources.registers is not None:
            kernels.setdefault(entry.mangled, entry.resources)
    return tuple(kernels.values())


def with_occupancy(
    kernel: KernelResources,
    capability: tuple[int, int],
    *,
    block_threads: int,
    dynamic_bytes: int = 0,
) -> KernelResources:
    """The same kernel with its theoretical occupancy; unchanged where that is not known.

    Args:
        kernel: As `read_resources` gave it.
        capability: Of the GPU.
        block_threads: Threads of a block, as it is launched.
        dynamic_bytes: Shared memory that the launch asks for.
    """
    if kernel.registers is None or capability not in CAPABILITIES:
        return kernel
    found = occupancy_of(
        capability,
        block_threads=block_threads,
        registers=kernel.registers,
        shared_bytes=(kernel.shared_bytes or 0) + dynamic_bytes,
    )
    return replace(
        kernel,
        block_threads=block_threads,
        occupancy=found.fraction,
        limited_by=found.limited_by,
    )


@dataclass
class _Entry:
    mangled: str
    architecture: str
    resources: KernelResources


def _entries(lines: list[str]) -> Iterator[_Entry]:
    """Every kernel with the lines that are about itself."""
    entry: _Entry | None = None
    about = ""
    for line in lines:
        if found := _ENTRY.search(line):
            if entry is not None:
                yield entry
            about = found["name"]
            fresh = KernelResources(name=plain_name(about))
            entry = _Entry(about, found["architecture"], fresh)
        elif found := _FUNCTION.search(line):
            about = found["name"]
        elif entry is None:
            continue
        elif (found := _STACK.search(line)) and about == entry.mangled:
            entry.resources = replace(
                entry.resources,
                stack_bytes=int(found["stack"]),
                spill_bytes=int(found["stores"]) + int(found["loads"]),
            )
        elif (found := _USED.search(line)) and entry.resources.registers is None:
            entry.resources = replace(
                entry.resources,
                registers=int(found["registers"]),
                shared_bytes=sum(map(int, _SHARED.findall(found["rest"]))),
                constant_bytes=sum(map(int, _CONSTANT.findall(found["rest"]))) or None,
            )
    if entry is not None:
        yield entry
