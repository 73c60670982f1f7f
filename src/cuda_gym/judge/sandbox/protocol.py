"""What processes say to each other: typed, versioned messages as JSON. Standard library only.

A message is `{"v": 1, "type": name, ...fields}`; `channel` carries it in frames. Nothing is ever
unpickled.

Covered: bytes that are no JSON, of an unknown type or version, with a field missing, left over, of
a wrong type or not finite raise `ProtocolError`. Whoever holds the other end decides whose fault that is: on a candidate's channel
it is the candidate's.

Not covered: whether what a candidate says is true. Its reports are claims.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

VERSION = 1

Tree = Any
"""A nested value as JSON; see `transport.encode_tree`."""


class ProtocolError(Exception):
    """The other side said something that is not in the protocol."""


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


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A candidate is gone, with everything that it started."""

    candidate: int
    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None


# Said to a candidate, which is not trusted


@dataclass(frozen=True, kw_only=True)
class Born:
    """Its warden announces it, before it can say anything itself. Descriptor: its pidfd."""


@dataclass(frozen=True, kw_only=True)
class Open:
    """Get the device ready, before anything of a submission is there."""

    device: str
    """`cpu`, `cuda:0`."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The device is ready, or nothing will be."""

    trouble: str
    """Why it is not; empty where it is."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Import `model_new.py`, construct the model, load its weights, forbid torch's operators.

    Descriptor: the region of the weights.
    """

    source: str
    library: str
    """Path of the compiled kernels; empty where there are none."""
    form: str
    """Of that file: a value of `BuildForm`."""
    launchers: tuple[Tree, ...]
    kernels: tuple[Tree, ...]
    """The `__global__` functions that may be launched without a launcher."""
    allowed_library: tuple[str, ...]
    init_args: Tree
    region: RegionSpec
    weights: Mapping[str, TensorSpec]
    num_threads: int
    check_blocks: int
    """How many blocks of each launch a checking build is to check; 0 is all of them."""


@dataclass(frozen=True, kw_only=True)
class Reload:
    """Overwrite the weights in place, and call `prepare()` again. Descriptor: their region."""

    region: RegionSpec
    weights: Mapping[str, TensorSpec]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Call forward once for each entry of `inputs`. Descriptors: input region, output region."""

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


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The model stands."""

    isolation: str
    prepare_ns: int | None
    operators_refused: int


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
    """All calls returned, and their outputs are copied."""

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


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Something that can be told to the agent."""

    kind: str
    """`raised`, `wrong`, `refused`, `compile`; `fault`, where the device stopped a kernel; or `found`,
    with the findings of a checking build."""
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
    | Reload
    | Run
    | Loaded
    | Ran
    | Failed
    | Request
    | Reply
    | Fault
)
_TYPES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Message)}
_PARTS = (TensorSpec, RegionSpec, KernelClaim)
"""What stands inside messages."""
_HINTS = {kind: get_type_hints(kind) for kind in (*_TYPES.values(), *_PARTS)}


# Messages as JSON


def encode(message: Message) -> bytes:
    """A message as UTF-8 JSON.

    >>> encode(Reply(value=3))
    b'{"v": 1, "type": "Reply", "value": 3}'
    """
    plain = {"v": VERSION, "type": type(message).__name__, **_plain_fields(message)}
    return json.dumps(plain, allow_nan=False).encode()


def decode(body: bytes, expected: tuple[type[Any], ...]) -> Any:
    """The message in a frame, if it is one of the expected types and wholly in order.

    Raises:
        ProtocolError: saying what is not.
    """
    try:
        plain = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"A message that is no JSON: {error}.") from error
    if not isinstance(plain, dict) or plain.pop("v", None) != VERSION:
        raise ProtocolError(f"A message that is not of protocol version {VERSION}.")
    kind = _TYPES.get(str(plain.pop("type", None)))
    if kind is None or kind not in expected:
        names = " or ".join(t.__name__ for t in expected)
        raise ProtocolError(f"{names} was due; {kind.__name__ if kind else 'something else'} came.")
    return _read_dataclass(kind, plain)


def _refuse_constant(name: str) -> float:
    raise ProtocolError(f"{name} is no number that is sent here.")


def _plain_fields(value: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, _PARTS):
        return _plain_fields(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _read_dataclass(kind: type[Any], plain: Any) -> Any:
    hints = _HINTS[kind]
    if not isinstance(plain, dict) or plain.keys() != hints.keys():
        raise ProtocolError(f"{kind.__name__} has the fields {sorted(hints)}.")
    return kind(**{name: _read(hint, plain[name], name) for name, hint in hints.items()})


def _read(hint: Any, value: Any, name: str) -> Any:
    """`value` as the annotated type, or ProtocolError."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin in (types.UnionType, Union):
        inner = next(arg for arg in get_args(hint) if arg is not type(None))
        return None if value is None else _read(inner, value, name)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(get_args(hint)[0], item, name) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(get_args(hint)[1], item, name) for key, item in value.items()}
    if hint in _PARTS:
        return _read_dataclass(hint, value)
    if isinstance(hint, type) and type(value) is hint:
        if isinstance(value, float) and not math.isfinite(value):
            raise ProtocolError(f"{name} is not finite.")
        return value
    raise ProtocolError(f"{name} is no {getattr(hint, '__name__', hint)}: {str(value)[:80]!r}.")


def read_spec(plain: Any) -> TensorSpec:
    """A TensorSpec out of plain JSON.

    Raises:
        ProtocolError: where it is none.
    """
    spec: TensorSpec = _read_dataclass(TensorSpec, plain)
    return spec
