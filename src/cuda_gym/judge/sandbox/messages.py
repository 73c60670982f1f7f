"""The words of the protocol: what the processes of the sandbox say to each other. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDEST = 4
"""An output that spans so many times the memory of its elements does not stay where it is."""

Tree = Any
"""A nested value as JSON; see `transport.encode_tree`."""


@dataclass(frozen=True, kw_only=True)
class TensorSpec:
    """Where a tensor lies in a shared region."""

    dtype: str
    """torch's name without the prefix: `float32`."""
    shape: tuple[int, ...]
    offset: int
    """Bytes from the start of the region, a multiple of 64."""


@dataclass(frozen=True, kw_only=True)
class RegionSpec:
    """A region of shared memory, as its owner names it."""

    number: int
    """Of all that this owner ever made; one that was opened before need not be opened again."""
    num_bytes: int


@dataclass(frozen=True, kw_only=True)
class CodeRange:
    """Code that is to be closed, in whole pages."""

    start: int
    """Its address, the same in every process forked from one."""
    num_bytes: int
    inode: int
    """Of the file that it is mapped from."""
    offset: int
    """In that file."""


# Said to the zygote, which is trusted


@dataclass(frozen=True, kw_only=True)
class Fork:
    """Fork a candidate; descriptors: its channel, and the pipe for what it prints."""

    candidate: int
    needs_proc: bool
    """Whether the device's driver must find this process in /proc."""
    memory_bytes: int
    """How much address space it may take beyond what it is born with."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """The zygote has imported everything."""

    torch: str
    threads: int
    """Its own threads at that moment; more than one could not be forked safely."""
    closed: tuple[CodeRange, ...] = ()
    """What its candidates close once a model stands, on `cpu`."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A candidate is gone, with everything that it started."""

    candidate: int
    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None
    """Neither is there where its warden was killed: nobody knows."""


# Said to a candidate, which is not trusted


@dataclass(frozen=True, kw_only=True)
class Born:
    """Its warden announces it, before it can say anything itself. Descriptor: its pidfd."""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Get the device ready, before anything of a submission is there."""

    device: str
    """`cpu`, `cuda:0`."""
    own_kernels: str
    """Machine code of what seals and holds blocks there; empty where none is wanted."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The device is ready, or nothing will be."""

    trouble: str
    """Why it is not; empty where it is."""
    isolation: str = ""
    """What stands between the process and the machine. Believed: nothing of a submission is there yet."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Import `model_new.py` and construct the model."""

    source: str
    library: str
    """Path of the compiled kernels; empty where there are none."""
    form: str
    """Of that file: a value of `BuildForm`."""
    launchers: tuple[Tree, ...]
    kernels: tuple[Tree, ...]
    """The `__global__` functions that may be launched without a launcher."""
    allowed_library: tuple[str, ...]
    allow_tf32: bool
    """Whether these calls may round float32 to TF32."""
    init_args: Tree
    num_threads: int
    check_blocks: int
    """How many blocks of each launch a checking build is to check; 0 is all of them."""


@dataclass(frozen=True, kw_only=True)
class Forbid:
    """The model stands: forbid torch's operators, and close their code. Its weights come next."""


@dataclass(frozen=True, kw_only=True)
class Reload:
    """Overwrite the weights in place, and call `prepare()` again. Descriptor: their region."""

    region: RegionSpec
    weights: Mapping[str, TensorSpec]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Call forward once for each entry of `inputs`.

    Descriptors: input region, output region. Where a page follows, all calls are queued behind the gate that it
    opens, and the inputs are sealed until then.
    """

    input_region: RegionSpec
    output_region: RegionSpec
    inputs: tuple[Tree, ...]
    """One tree of arguments a call."""
    outputs: tuple[tuple[TensorSpec, ...], ...]
    """One list of tensors a call: what is expected, and where it is to be copied."""
    poison: bool
    """Fill fresh allocations with NaN and compare the inputs afterwards."""
    dry: bool
    """Call nothing: the judge's anchor for what the protocol itself costs."""
    gate_ns: int = 0
    """How long the device waits before each call, so that the host is done when it begins."""
    time_kernels: bool = False
    """Tell what each kernel took in the fastest of the calls."""
    stays: bool = False
    """Copy nothing: what is returned stays where it is until the next run, and is read from outside."""


@dataclass(frozen=True, kw_only=True)
class Rest:
    """Let go of all regions."""


@dataclass(frozen=True, kw_only=True)
class Rested:
    """No region is held any more."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The model stands, with weights or still without."""

    prepare_ns: int | None


@dataclass(frozen=True, kw_only=True)
class Forbidden:
    """From now on only kernels compute."""


@dataclass(frozen=True, kw_only=True)
class KernelClaim:
    """What one kernel is said to have taken in one call."""

    name: str
    launches: int
    total_ns: int
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """All calls returned, and their outputs are copied, or stay."""

    call_ns: tuple[int, ...]
    """Claimed duration of each call."""
    launches: int
    """Kernels launched in all calls."""
    library_calls: int
    findings: str
    """Of a checking build, a line of JSON each; empty of any other."""
    host_ns: tuple[int, ...] = ()
    """How long each call is said to have kept the host."""
    num_ungated: int = 0
    """Calls whose gate is said to have opened before the host was done."""
    kernels: tuple[KernelClaim, ...] = ()
    """Of the fastest call, where they were asked for."""
    places: tuple[tuple[int, ...], ...] = ()
    """Of outputs that stay, in order: the address, then the strides in elements; nothing of one without elements."""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Something that can be told to the agent."""

    kind: str
    """`raised`, `wrong`, `refused`; `again`, where an output that stayed was written over; `fault`, where the device stopped a kernel;
    `memory`, where none was left; or `found`, with the findings of a checking build."""
    message: str


# Said to a reference worker, which is trusted


@dataclass(frozen=True, kw_only=True)
class Request:
    """Call one method of the reference worker."""

    method: str
    arguments: Tree


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the method returned."""

    value: Tree


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The method raised an error of our tree."""

    error: str
    """Name of the class in `cuda_gym.errors`."""
    message: str


Message = (
    Fork
    | Born
    | Ready
    | Ended
    | Open
    | Opened
    | Load
    | Forbid
    | Reload
    | Run
    | Rest
    | Rested
    | Loaded
    | Forbidden
    | Ran
    | Failed
    | Request
    | Reply
    | Fault
)
