"""Theoretical occupancy while compiling: where the text says how large the blocks of a kernel are.

Covered: launches whose block and shared memory are numbers as the text stands (`cuda_constants`), and
`__launch_bounds__` for kernels whose launches do not tell. A kernel that is launched with blocks of several
sizes is told without occupancy. Not covered: blocks that Python chooses.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from cuda_gym.core.findings import KernelResources
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_constants import block_threads, whole_number
from cuda_gym.judge.toolchains.cuda_launches import launches_in
from cuda_gym.judge.toolchains.cuda_source import Source, closing
from cuda_gym.judge.toolchains.function_places import short_name
from cuda_gym.judge.toolchains.ptxas import with_occupancy

__all__ = ["with_known_blocks"]

_MOST_THREADS = 1024
_MOST_LAUNCHES = 64
"""Of a file; each is looked up in all of its text."""
_BOUNDS = re.compile(r"__launch_bounds__\s*\(")
_BOUNDED_NAME = re.compile(r"\s*(?:\w+\s+|\w+\s*\*\s*)*?(\w+)\s*\(")

_Blocks = set[tuple[int, int] | None]
"""Threads, and bytes of dynamic shared memory; None where a launch does not tell."""


def with_known_blocks(
    kernels: Sequence[KernelResources], files: Mapping[str, str], capability: tuple[int, int]
) -> tuple[KernelResources, ...]:
    """The kernels, with occupancy where the size of their blocks is known.

    Args:
        kernels: As ptxas told them.
        files: Texts of the sources.
        capability: Of the GPU.
    """
    sources = [Source(path, text) for path, text in sorted(files.items())]
    launched: dict[str, _Blocks] = defaultdict(set)
    bounds: dict[str, _Blocks] = defaultdict(set)
    for source in sources:
        for kernel, block in islice(_launches(source), _MOST_LAUNCHES):
            launched[kernel].add(block)
            launched[short_name(kernel)].add(block)
        for name, threads in islice(_bounds(source), _MOST_LAUNCHES):
            bounds[name].add(None if threads is None else (threads, 0))
    return tuple(_with_block(kernel, launched, bounds, capability) for kernel in kernels)


def _with_block(
    kernel: KernelResources,
    launched: Mapping[str, _Blocks],
    bounds: Mapping[str, _Blocks],
    capability: tuple[int, int],
) -> KernelResources:
    short = short_name(kernel.name)
    known = launched.get(_without_spaces(kernel.name)) or launched.get(short, set())
    if known <= {None}:
        known = bounds.get(short, set())
    block = next(iter(known)) if len(known) == 1 else None
    if block is None or not 1 <= block[0] <= _MOST_THREADS:
        return kernel
    return with_occupancy(kernel, capability, block_threads=block[0], dynamic_bytes=block[1])


def _launches(source: Source) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Each launch of a file: its kernel as it is written, and its block where that is known."""
    # Up to the first that cannot be read: whether it is one the compiler knows.
    with contextlib.suppress(CompileError):
        for launch in launches_in(source):
            offset = launch.callee[0]
            kernel = _without_spaces(source.masked[slice(*launch.callee)])
            parts = _parts(source.masked[slice(*launch.configuration)])
            threads = block_threads(parts[1], source, offset) if len(parts) > 1 else None
            shared = whole_number(parts[2], source, offset) if len(parts) > 2 else 0
            yield kernel, None if threads is None or shared is None else (threads, shared)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _bounds(source: Source) -> Iterator[tuple[str, int | None]]:
    """Each kernel with `__launch_bounds__`."""
    for match in _BOUNDS.finditer(source.code):
        end = closing(source.code, match.end() - 1)
        if name := _BOUNDED_NAME.match(source.code, end + 1):
            first = _parts(source.code[match.end() : end])[0]
            yield name[1], whole_number(first, source, match.start())


def _parts(text: str) -> list[str]:
    """The pieces between commas outside brackets."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in "([{":
            at = closing(text, at)
        elif text[at] == ",":
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]
