"""What compile and verify saw. Findings carry no time, and so they never pay."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, unique

__all__ = [
    "Build",
    "BuildForm",
    "Diagnostic",
    "DrawFindings",
    "Findings",
    "KernelResources",
    "MemoryFinding",
    "MemorySide",
    "Mismatch",
    "Outcome",
    "Severity",
]


@unique
class Outcome(Enum):
    """How a judgement ended. Only `CORRECT` earns anything."""

    CORRECT = "correct"
    """Right on every hidden draw, and honest."""
    WRONG = "wrong"
    """Ran to the end with a wrong value, shape, dtype or aliasing."""
    COMPILE_ERROR = "compile_error"
    """The compiler, or Python's parser, said no."""
    RUNTIME_ERROR = "runtime_error"
    """Crashed, raised, or broke the contract while running."""
    TIMEOUT = "timeout"
    """Missed a deadline and was stopped."""
    REFUSED = "refused"
    """A hack, or a name that the task's rules forbid; the fact is stated."""
    UNSUPPORTED_ON_DEVICE = "unsupported_on_device"
    """Right CUDA that this device cannot run; neither wrong nor right."""
    MACHINE_ERROR = "machine_error"
    """Our fault: nothing is scored."""


@unique
class Severity(Enum):
    """How bad a diagnostic is."""

    ERROR = "error"
    """Nothing was built."""
    WARNING = "warning"
    """It was built; look here."""
    NOTE = "note"
    """Belongs to the diagnostic before it."""


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One message of a compiler, with its place."""

    severity: Severity
    message: str
    """Without path, line and severity."""
    file: str | None = None
    """Path inside the workspace; None where the message has no place of the agent's."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1."""

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line, self.column) if p is not None)
        return f"{place}: {self.severity.value}: {self.message}" if place else self.message


@dataclass(frozen=True, kw_only=True)
class MemorySide:
    """One of those who have a part in a `MemoryFinding`."""

    does: str
    """`reads`, `wrote it`, `waits`."""
    file: str | None
    """None where no line is known."""
    line: int | None
    """From 1."""
    thread: tuple[int, int, int] | None = None
    """threadIdx; None in host code, and where it is not told."""
    block: tuple[int, int, int] | None = None
    """blockIdx, likewise."""
    in_kernel: bool = False
    """Whether it is a thread of a kernel, although none is named."""

    def __str__(self) -> str:
        who = "a thread" if self.in_kernel else "host code"
        if self.thread is not None and self.block is not None:
            who = f"thread {_index(self.thread)} of block {_index(self.block)}"
        return f"{who} {self.does}{f' at {self.file}:{self.line}' if self.file else ''}"


@dataclass(frozen=True, kw_only=True)
class MemoryFinding:
    """A race, a stray access or a barrier gone wrong: a bug whatever comes out of the kernel."""

    kind: str
    """`data race`, `out of bounds`, `uninitialised read`, `divergent barrier`, `mismatched mask`,
    `deadlock`, `misaligned access`, `host access`, `unwritten output` or `unset variable`."""
    text: str
    """Which memory, or who waits for whom."""
    kernel: str
    """Empty in host code."""
    sides: tuple[MemorySide, ...]
    """Who did it first; two where one is against another."""

    def __str__(self) -> str:
        where = f" in kernel {self.kernel}" if self.kernel else ""
        sides = "; ".join(map(str, self.sides))
        return f"{self.kind}{where}: {self.text}{': ' if sides else ''}{sides}"


def _index(index: tuple[int, int, int]) -> str:
    return f"({', '.join(map(str, index))})"


@dataclass(frozen=True, kw_only=True)
class KernelResources:
    """What one kernel takes of the device; None where the device does not say."""

    name: str
    registers: int | None = None
    """Of a thread."""
    spill_bytes: int | None = None
    """Stored to and loaded from local memory, for want of registers; of a thread."""
    stack_bytes: int | None = None
    """Local memory of a thread: spilled registers, and arrays that are indexed by a variable."""
    constant_bytes: int | None = None
    """Constant memory, parameters included."""
    shared_bytes: int | None = None
    """Static shared memory of a block."""
    block_threads: int | None = None
    """Threads of a block, as it is launched."""
    occupancy: float | None = None
    """Theoretical, 0 to 1, at `block_threads`."""
    limited_by: str | None = None
    """What keeps the occupancy below 1: `registers`, `shared memory`, `blocks` or `block size`."""
    mode: str | None = None
    """How the `cpu` device runs it: `loop` (vectorised), `phases` (so between its barriers) or `fibers`."""


@unique
class BuildForm(Enum):
    """What a build is, and so how it is loaded."""

    LIBRARY = "library"
    """A shared library, its launchers called through their C names."""
    CUBIN = "cubin"
    """Machine code of a GPU and nothing for the host: its kernels are launched through the driver."""
    EXTENSION = "extension"
    """A module that Python imports, made with pybind11 and torch's headers."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """A submission compiled for one device."""

    key: str
    """Content hash of sources, flags, toolchain and architecture: the name in the cache."""
    library: str
    """Path of the file that is loaded."""
    toolchain: str
    """Name and version of what compiled it."""
    build_s: float
    """Wall time of this build or look-up."""
    cached: bool
    """Whether it lay in the cache."""
    form: BuildForm = BuildForm.LIBRARY
    kernels: tuple[KernelResources, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings; a build with errors does not exist."""
    evidence: tuple[str, ...] = ()
    """What its texts tell that a reader of the Verdict should know, though it breaks no rule: it decides
    nothing."""


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """One element that is wrong."""

    index: tuple[int, ...]
    got: float
    expected: float
    allowed: float
    """The largest error that would have passed here."""


@dataclass(frozen=True, kw_only=True)
class DrawFindings:
    """How one hidden draw of inputs went."""

    name: str
    """The kind of draw: `ordinary`, `large offset`, `tiny scale`, `spiky`, `other shape`, ..."""
    description: str
    """In words: shapes and distribution, enough to reproduce the kind, not the values."""
    passed: bool
    reason: str = ""
    """Why it did not pass; empty where it did."""
    output: int = 0
    """Which output, where there are several."""
    num_elements: int = 0
    num_wrong: int = 0
    first: Mismatch | None = None
    """The first wrong element in memory order."""
    worst: Mismatch | None = None
    """The element with the largest error over what is allowed."""
    pattern: str | None = None
    """What the wrong elements have in common, where something was found."""
    error_ratio: float | None = None
    """The largest error over what is allowed there: at most 1 passes."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What compile and verify saw. They carry no time, and so they never pay."""

    outcome: Outcome | None
    """None where a compile succeeded and nothing was run; otherwise how it ended."""
    summary: str
    """One sentence: fact, value, remedy."""
    build: Build | None = None
    """None where there is none."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors first."""
    draws: tuple[DrawFindings, ...] = ()
    """In the order in which they were run."""
    output: str = ""
    """What the submission printed, head and tail."""
    memory: tuple[MemoryFinding, ...] | None = None
    """What the memory check found; None where it was not run."""
