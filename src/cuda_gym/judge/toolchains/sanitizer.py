"""NVIDIA's compute-sanitizer: how it is called, and what it writes, as findings.

    memcheck    accesses out of bounds and misaligned ones
    racecheck   races on shared memory
    initcheck   reads of global memory that nothing has written
    synccheck   barriers that not all threads reach, masks that do not fit

Covered: the text of versions since 2021, line by line; what is not understood is left out, equal
findings are told once. Not covered: races between blocks on global memory, an index that is wrong and
hits another tensor further away than `PADDING_BYTES`, whether what a submission's process made it
write is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from pathlib import Path

from cuda_gym.core.findings import Build, MemoryFinding
from cuda_gym.judge.profiling.nvidia_tools import USUAL_FOLDERS, find_tool
from cuda_gym.judge.toolchains.sanitizer_records import finding_of, records

__all__ = [
    "PADDING_BYTES",
    "TOOLS",
    "find_sanitizer",
    "read_findings",
    "sanitizer_command",
    "why_no_sanitizer",
]

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
"""In the order in which they are run: what the first finds makes the others guess."""
PADDING_BYTES = 1 << 16
"""Between two allocations: an index that is too large by a block of rows must not hit the next one."""

_MOST = 40
_MOST_PRINTED = 2000
_LONGEST = 8 << 20
_OPTIONS = {
    "memcheck": ("--padding", str(PADDING_BYTES), "--report-api-errors", "no"),
    # Hazards tell threads, and the analysis the pairs of lines that the first hazards are not about.
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "synccheck": (),
}


def find_sanitizer(*, usual: tuple[Path, ...] = USUAL_FOLDERS) -> Path | None:
    """The program; None where there is none."""
    return find_tool("compute-sanitizer", beside=("compute-sanitizer",), usual=usual)


def why_no_sanitizer(*, usual: tuple[Path, ...] = USUAL_FOLDERS) -> str:
    """What is missing, and how to get it; empty where nothing is."""
    if find_sanitizer(usual=usual) is not None:
        return ""
    return (
        "There is no compute-sanitizer, which checks memory on a GPU. It comes with NVIDIA's CUDA "
        "toolkit: put its bin folder on PATH, or set CUDA_HOME."
    )


def sanitizer_command(
    program: Path, tool: str, log: Path, kernels: Iterable[str] = ()
) -> tuple[str, ...]:
    """The words to write before a command, so that it runs under one tool.

    Args:
        program: What `find_sanitizer` found.
        tool: One of `TOOLS`.
        log: The file that it writes.
        kernels: Names of the kernels to look at, as a `Build` has them; none is all.
    """
    # What a library wrote counts for initcheck, so it has to see all kernels.
    watched = () if tool == "initcheck" else _plain(kernels)
    filters = tuple(word for name in watched for word in ("--kernel-name", f"kns={name}"))
    return (
        str(program),
        "--tool",
        tool,
        "--log-file",
        str(log),
        "--print-limit",
        str(_MOST_PRINTED),
        "--show-backtrace",
        "device",
        "--strip-paths",
        "no",
        "--target-processes",
        "application-only",
        *_OPTIONS[tool],
        *filters,
    )


def read_findings(text: str, build: Build) -> tuple[MemoryFinding, ...]:
    """What a log says, each kind once a set of lines.

    Args:
        text: All of a log, or of several.
        build: What was run: what other kernels did, torch's own for one, is left out.
    """
    kernels = {_identifier(kernel.name) for kernel in build.kernels}
    found: dict[tuple[object, ...], MemoryFinding] = {}
    for record in records(text[:_LONGEST]):
        finding = finding_of(record)
        if finding is None or not _is_of(finding, kernels):
            continue
        lines = sorted({(side.file or "", side.line or 0) for side in finding.sides})
        key = (finding.kind, finding.kernel, *lines)
        # A hazard and the analysis of it: the one with threads comes first in a log.
        found.setdefault(key, finding)
    return tuple(found.values())[:_MOST]


def _identifier(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]


def _is_of(finding: MemoryFinding, kernels: Set[str]) -> bool:
    """Whether it is the submission's: by its file, by its kernel, or for want of any knowledge."""
    is_own = any((side.file or "").startswith("kernels/") for side in finding.sides)
    return is_own or not kernels or _identifier(finding.kernel) in kernels


def _plain(kernels: Iterable[str]) -> list[str]:
    """Identifiers to look for in the symbols; none where a name is no such thing, which means all."""
    names = set(map(_identifier, kernels))
    return sorted(names) if all(name.isidentifier() for name in names) else []
