"""The nouns of this project. Standard library only; plain numbers and strings, no arrays.

    Task        what is to be computed        Submission  what an agent handed in, frozen
    Device      where kernels run             Build       a submission compiled for a device
    Findings    what compile and verify saw   Verdict     a timed judgement: only it pays
    Action      what an agent says            Observation what it is told
    Episode     one game, from reset to settlement

All are frozen and compare by value. "Not there" is None. Units stand in the names.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum, unique
from pathlib import PurePosixPath
from typing import Any

__all__ = [
    "JUDGE_VERSION",
    "Action",
    "Band",
    "Build",
    "Device",
    "DeviceRates",
    "Diagnostic",
    "DrawFindings",
    "Episode",
    "Findings",
    "Fingerprint",
    "KernelResources",
    "KernelTime",
    "MemoryFinding",
    "MemorySide",
    "Mismatch",
    "Observation",
    "Outcome",
    "Profile",
    "Roofline",
    "Severity",
    "Stage",
    "Submission",
    "Task",
    "Telemetry",
    "Timing",
    "Turn",
    "Verdict",
    "Work",
    "as_plain",
]

JUDGE_VERSION = "1"
"""Raised whenever an equal submission could get another Verdict; leaderboards rank one version."""


# Where kernels run


@dataclass(frozen=True)
class Device:
    """Where kernels run: `cpu`, or `cuda:N`.

    >>> Device.parse("cuda:1")
    Device(kind='cuda', index=1)
    >>> str(Device.parse("cpu"))
    'cpu'
    """

    kind: str
    """`cpu` or `cuda`."""
    index: int = 0
    """Which GPU; 0 on `cpu`."""

    @classmethod
    def parse(cls, text: str) -> Device:
        """Read `cpu`, `cuda` or `cuda:N`.

        Raises:
            ValueError: for anything else; `auto` is resolved by the judge, which knows the machine.
        """
        kind, _, index = text.partition(":")
        if text == "cpu":
            return cls("cpu")
        if kind == "cuda" and (index.isdecimal() if ":" in text else not index):
            return cls("cuda", int(index or 0))
        raise ValueError(f"There is no device {text!r}. Devices are 'cpu', 'cuda:0', 'cuda:1', ...")

    def __str__(self) -> str:
        return "cpu" if self.kind == "cpu" else f"{self.kind}:{self.index}"


# What is to be computed


@unique
class Band(Enum):
    """How hard a task is."""

    EASY = "easy"
    """One kernel, no cooperation between threads needed."""
    MEDIUM = "medium"
    """Threads share work: reductions, tiles."""
    HARD = "hard"
    """Several stages, or a fight with a tuned library."""


@unique
class Roofline(Enum):
    """What bounds the best possible kernel of a task."""

    MEMORY = "memory"
    """Bytes: each is read or written once, and little is computed with it."""
    COMPUTE = "compute"
    """Arithmetic: every byte is used again and again, as in a product of matrices."""
    LATENCY = "latency"
    """Neither: a chain of steps that wait for each other."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A reference PyTorch module, its inputs, and the rules it is judged by."""

    id: str
    """`suite/name`, as on the command line: `core/softmax`, `kernelbench/level1/19`."""
    source: str
    """Python in KernelBench's format: `class Model`, `get_inputs()`, `get_init_inputs()`."""
    title: str
    """One line for a human."""
    family: str = "other"
    """What kind of computation: `softmax`, `reduction`, `matmul`, ..."""
    band: Band | None = None
    """None where nobody has said."""
    roofline: Roofline | None = None
    """None where nobody has said."""
    library: tuple[str, ...] = ()
    """The calls of `cuda_extension.library` that are allowed: `gemm`, `bmm`, `conv`."""
    allow_tf32: bool = False
    """Whether both sides may use TF32 matrix units."""
    sizes: tuple[tuple[str, str, int], ...] = ()
    """(kind of device, name of a constant, its value there), where a device wants other sizes."""

    @property
    def hash(self) -> str:
        """Content hash of all that decides a Verdict; the title and the id do not."""
        return _digest(["task", self.source, sorted(self.library), self.allow_tf32])

    def sizes_on(self, device: Device) -> dict[str, int]:
        """The constants that have another value on a device."""
        return {name: value for kind, name, value in self.sizes if kind == device.kind}


@dataclass(frozen=True)
class Submission:
    """A frozen snapshot of what the agent may edit.

    >>> s = Submission.of({"model_new.py": "class ModelNew: ...", "kernels/a.cu": ""})
    >>> s.paths
    ('kernels/a.cu', 'model_new.py')
    """

    files: tuple[tuple[str, str], ...]
    """(path, text), sorted by path; paths are relative to the workspace, with `/`."""

    @classmethod
    def of(cls, files: Mapping[str, str]) -> Submission:
        """Freeze a mapping from path to text.

        Raises:
            ValueError: where a path is absolute or leaves the workspace.
        """
        for path in files:
            parts = PurePosixPath(path).parts
            if not parts or path.startswith("/") or ".." in parts:
                raise ValueError(f"{path!r} is no path inside a workspace.")
        return cls(tuple(sorted(files.items())))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(path for path, _ in self.files)

    @property
    def hash(self) -> str:
        """Content hash of all files."""
        return _digest(["submission", self.files])

    def text(self, path: str) -> str | None:
        """The text of one file; None where there is none."""
        return dict(self.files).get(path)


# What compile and verify saw


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
class Stage(Enum):
    """How far an episode, or a judgement, has come."""

    START = "start"
    """Nothing was tried yet."""
    EDITED = "edited"
    """Files were written since the last compile."""
    COMPILED = "compiled"
    """The latest files compile."""
    VERIFIED = "verified"
    """The latest files are right on hidden draws."""
    TIMED = "timed"
    """The latest files have a Verdict."""
    SETTLED = "settled"
    """The episode is over and paid."""


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
    """threadIdx; None in host code."""
    block: tuple[int, int, int] | None = None
    """blockIdx; None in host code."""

    def __str__(self) -> str:
        who = "host code"
        if self.thread is not None and self.block is not None:
            who = f"thread {_index(self.thread)} of block {_index(self.block)}"
        return f"{who} {self.does}{f' at {self.file}:{self.line}' if self.file else ''}"


@dataclass(frozen=True, kw_only=True)
class MemoryFinding:
    """A race, a stray access or a barrier gone wrong: a bug whatever comes out of the kernel."""

    kind: str
    """`data race`, `out of bounds`, `uninitialised read`, `divergent barrier`, `mismatched mask`,
    `deadlock`, `misaligned access`, `host access` or `unwritten output`."""
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


@dataclass(frozen=True, kw_only=True)
class Build:
    """A submission compiled for one device."""

    key: str
    """Content hash of sources, flags, toolchain and architecture: the name in the cache."""
    library: str
    """Path of the shared library."""
    toolchain: str
    """Name and version of what compiled it."""
    build_s: float
    """Wall time of this build or look-up."""
    cached: bool
    """Whether it lay in the cache."""
    kernels: tuple[KernelResources, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings; a build with errors does not exist."""


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


# A timed judgement


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long a submission and its baselines took on one device, in one comparison."""

    time_us: float
    """Time of the submission: the fastest tenth of a block, the median over interleaved blocks."""
    compile_us: float
    """Time of the reference under torch.compile, interleaved with the submission."""
    speedup: float
    """compile_us over time_us, the median over pairs of blocks: not the ratio of the two above."""
    speedup_low: float
    """Lower end of the 95 % bootstrap interval."""
    speedup_high: float
    """Upper end of the 95 % bootstrap interval."""
    num_blocks: int
    """Blocks of each side."""
    num_calls: int
    """Timed calls of the submission, each with new content."""
    timer: str
    """Which clock: `wall` on cpu."""
    num_disturbed: int = 0
    """Pairs of blocks during which other processes took the cores."""
    steady: bool = True
    """Whether enough pairs were undisturbed, and only these count. Where not, compile_us is at most
    the best ever seen: a busy machine slows torch.compile more than others, and nobody earns that."""
    eager_us: float | None = None
    """Time of the eager reference: its cached ratio to torch.compile, anchored at compile_us."""
    first_call_us: float | None = None
    """Time of the very first call."""
    clock_ratio: float | None = None
    """The judge's own clock, a call, over the candidate's; above 1.3 the times are scaled up."""
    prepare_us: float | None = None
    """Time of `prepare()`; None where there is none."""

    def __post_init__(self) -> None:
        times = (self.time_us, self.compile_us, self.speedup)
        if not all(math.isfinite(value) and value > 0 for value in times):
            raise ValueError(
                f"times and speed-ups are positive; got time_us={self.time_us}, "
                f"compile_us={self.compile_us}, speedup={self.speedup}"
            )

    @property
    def eager_speedup(self) -> float | None:
        """eager_us over time_us."""
        return None if self.eager_us is None else self.eager_us / self.time_us


@dataclass(frozen=True, kw_only=True)
class KernelTime:
    """What one kernel took in one call, as the submission's process reports it: told, never paid."""

    name: str
    """`library.gemm` and its like where the call was one of `cuda_extension.library`."""
    launches: int
    total_us: float
    """Of all its launches."""
    grid: tuple[int, ...] = ()
    """Blocks of its longest launch; empty for a library call."""
    block: tuple[int, ...] = ()
    """Threads of a block, likewise."""
    mode: str | None = None
    """How the `cpu` device runs it, as in `KernelResources`."""

    @property
    def launch_us(self) -> float:
        """A launch, on average."""
        return self.total_us / self.launches


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a task asks of any submission in one call."""

    read_bytes: int
    """Inputs and parameters, each byte once; what no output depends on is left out."""
    written_bytes: int
    """Outputs."""
    flops: float | None
    """Exact for products, convolutions and attention, one an element for each other operator of the
    reference; None where it has an operator that nobody counts."""


@dataclass(frozen=True, kw_only=True)
class DeviceRates:
    """The most that a device was seen to do, with the threads of a race."""

    copy_gb_per_s: float
    """Bytes read and bytes written, of copies larger than every cache."""
    gflop_per_s: float
    """In a product of float32 matrices."""
    cache_bytes: int
    """Of the last level."""
    num_cores: int
    """Threads of a race, or multiprocessors: each runs at least one block at a time."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Where the time of a call goes, and what it would have to be: told, never paid."""

    call_us: float | None = None
    """The call in which the kernels were timed, after the race; None where that failed."""
    kernels: tuple[KernelTime, ...] = ()
    """In the order of their first launches."""
    work: Work | None = None
    rates: DeviceRates | None = None


@dataclass(frozen=True, kw_only=True)
class Telemetry:
    """The state of the device around the timed calls; None where it does not say."""

    clock_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: str | None = None
    """The reason, where there was one."""
    load: float | None = None
    """Runnable processes over cores (`cpu`), or utilisation 0 to 1 by others (`cuda`)."""


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """The conditions under which a Verdict holds. Only equal fingerprints are ranked together."""

    judge: str
    task: str
    """Hash of the task."""
    device: str
    """Name of the hardware and its number of threads."""
    toolchain: str
    torch: str
    compile_mode: str
    timer: str
    transport: str
    isolation: str
    """What stood between the submission and the machine."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A timed judgement of one submission on one task."""

    outcome: Outcome
    task_id: str
    submission: str
    """Hash of the submission."""
    device: str
    findings: Findings
    """What was compiled and verified on the way."""
    fingerprint: Fingerprint | None
    """None only where the judgement ended before the device was known."""
    timing: Timing | None = None
    """There exactly where the outcome is correct."""
    profile: Profile | None = None
    """None where there is no timing."""
    telemetry: Telemetry | None = None
    unranked: str | None = None
    """Why a leaderboard may not rank it; None where it may."""
    seed: int | None = None
    """The secret seed of the draws, told afterwards so that the Verdict can be replayed."""
    judge_s: float = 0.0
    """Wall time of the whole judgement."""

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.CORRECT) != (self.timing is not None):
            raise ValueError(
                f"a Verdict has a Timing exactly where it is correct; got {self.outcome.value} "
                f"with timing={self.timing}"
            )

    @property
    def summary(self) -> str:
        """One sentence: fact, value, remedy."""
        return self.findings.summary

    @property
    def speedup(self) -> float | None:
        """Verified speed-up over torch.compile; None where the submission is not correct."""
        return None if self.timing is None else self.timing.speedup


# What goes between an agent and an environment


@dataclass(frozen=True)
class Action:
    """What an agent says: text with one tool call, or with files and an optional call."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What an agent is told after an action."""

    text: str
    stage: Stage
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Finite numbers by name; a name is missing where there is nothing to say."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One action and what came of it."""

    action: Action
    observation: Observation
    reward: float


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One game, from reset to settlement."""

    task_id: str
    device: str
    agent: str
    """Name of the agent."""
    first: Observation
    """What reset showed."""
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    """The final one; None where nothing was ever submitted, or the episode is void."""
    void: str | None = None
    """Why a trainer must drop this episode; None where it counts."""
    workspace: str | None = None
    """Folder with the files, where they were kept."""

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    @property
    def total_reward(self) -> float:
        """The return, undiscounted: exactly phi(final Verdict) - phi(none)."""
        return math.fsum(turn.reward for turn in self.turns)


# Helpers


def as_plain(value: Any) -> Any:
    """Any noun as dicts, lists, strings and numbers, ready for `json.dumps`.

    >>> as_plain(Diagnostic(severity=Severity.ERROR, message="no", file="a.cu", line=3))["line"]
    3
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def _digest(content: Any) -> str:
    """A short content hash: 16 hexadecimal digits of SHA-256 over canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
