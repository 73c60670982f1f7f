"""Small kernels as trees: expressions over unsigned and float, and statements at three levels.

block    everything, barriers included; all threads of the block get here
warp     warp operations with the mask of the branch; lanes of a warp get here together
thread   what a thread does alone
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
UNSIGNED, FLOAT = "unsigned", "float"
INPUT_SIZE = 64
"""Elements of each of the two inputs."""
NUM_SUMS = 8
"""Cells of each kind of atomic."""
VARIABLES = {"a": UNSIGNED, "b": UNSIGNED, "c": UNSIGNED, "p": FLOAT, "q": FLOAT}
INDICES = ("tid", "block", "lane", "size")
SHARED = {"s": UNSIGNED, "t": UNSIGNED, "w": FLOAT}


@dataclass(frozen=True)
class Operation:
    """What is printed, and what it computes."""

    text: str
    takes: tuple[str, ...]
    gives: str
    compute: Callable[..., Array]


def _signed(x: Array) -> Array:
    return x.view(np.int32)


def _bits(x: Array) -> Array:
    return x.astype(np.uint32)


def _count(x: Array) -> Array:
    return _bits(np.array([int(v).bit_count() for v in x]))


def _reversed(x: Array) -> Array:
    return _bits(np.array([int(f"{int(v):032b}"[::-1], 2) for v in x]))


def _chosen(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition & 1, x, y)


_U, _F = UNSIGNED, FLOAT
OPERATIONS = {
    "add": Operation("({} + {})", (_U, _U), _U, lambda x, y: x + y),
    "sub": Operation("({} - {})", (_U, _U), _U, lambda x, y: x - y),
    "mul": Operation("({} * {})", (_U, _U), _U, lambda x, y: x * y),
    "and": Operation("({} & {})", (_U, _U), _U, lambda x, y: x & y),
    "or": Operation("({} | {})", (_U, _U), _U, lambda x, y: x | y),
    "xor": Operation("({} ^ {})", (_U, _U), _U, lambda x, y: x ^ y),
    "left": Operation("({} << ({} & 31u))", (_U, _U), _U, lambda x, y: x << (y & 31)),
    "right": Operation("({} >> ({} & 31u))", (_U, _U), _U, lambda x, y: x >> (y & 31)),
    "signed_right": Operation(
        "(unsigned)((int){} >> ({} & 31u))",
        (_U, _U),
        _U,
        lambda x, y: (_signed(x) >> _signed(y & 31)).view(np.uint32),
    ),
    "divide": Operation("({} / ({} | 1u))", (_U, _U), _U, lambda x, y: x // (y | 1)),
    "remainder": Operation("({} % ({} | 1u))", (_U, _U), _U, lambda x, y: x % (y | 1)),
    "min": Operation("min({}, {})", (_U, _U), _U, np.minimum),
    "signed_max": Operation(
        "(unsigned)max((int){}, (int){})",
        (_U, _U),
        _U,
        lambda x, y: np.maximum(_signed(x), _signed(y)).view(np.uint32),
    ),
    "less": Operation(
        "(unsigned)((int){} < (int){})",
        (_U, _U),
        _U,
        lambda x, y: _bits(_signed(x) < _signed(y)),
    ),
    "congruent": Operation(
        "(unsigned)({} % 4u == {} % 4u)", (_U, _U), _U, lambda x, y: _bits(x % 4 == y % 4)
    ),
    "high": Operation(
        "__umulhi({}, {})",
        (_U, _U),
        _U,
        lambda x, y: _bits((x.astype(np.uint64) * y.astype(np.uint64)) >> np.uint64(32)),
    ),
    "rotate": Operation(
        "__funnelshift_l({0}, {0}, {1})",
        (_U, _U),
        _U,
        lambda x, y: (x << (y & 31)) | (x >> ((32 - (y & 31)) & 31)),
    ),
    "count": Operation("(unsigned)__popc({})", (_U,), _U, _count),
    "reverse": Operation("__brev({})", (_U,), _U, _reversed),
    "narrow": Operation(
        "(unsigned)(int)(short){}", (_U,), _U, lambda x: _bits(x.astype(np.int16).astype(np.int32))
    ),
    "choose": Operation("({} & 1u ? {} : {})", (_U, _U, _U), _U, _chosen),
    "below": Operation("(unsigned)({} < {})", (_F, _F), _U, lambda x, y: _bits(x < y)),
    "truncate": Operation(
        "(unsigned)__float2int_rz(fminf(fmaxf({}, -1000000.0f), 1000000.0f))",
        (_F,),
        _U,
        lambda x: (
            np.fmin(np.fmax(x, np.float32(-1e6)), np.float32(1e6)).astype(np.int32).view(np.uint32)
        ),
    ),
    "number": Operation(
        "__int2float_rn((int){} >> 12)", (_U,), _F, lambda x: (_signed(x) >> 12).astype(np.float32)
    ),
    "plus": Operation("__fadd_rn({}, {})", (_F, _F), _F, lambda x, y: x + y),
    "minus": Operation("__fsub_rn({}, {})", (_F, _F), _F, lambda x, y: x - y),
    "times": Operation("__fmul_rn({}, {})", (_F, _F), _F, lambda x, y: x * y),
    "over": Operation(
        "__fdiv_rn({}, __fadd_rn(fabsf({}), 1.0f))", (_F, _F), _F, lambda x, y: x / (np.abs(y) + 1)
    ),
    "root": Operation("__fsqrt_rn(fabsf({}))", (_F,), _F, lambda x: np.sqrt(np.abs(x))),
    "larger": Operation("fmaxf({}, {})", (_F, _F), _F, np.fmax),
    "smaller": Operation("fminf({}, {})", (_F, _F), _F, np.fmin),
}


@dataclass(frozen=True)
class Constant:
    value: int


@dataclass(frozen=True)
class Name:
    """A variable, an index, or the variable of a loop."""

    name: str


@dataclass(frozen=True)
class Input:
    """An element of an input; any index is taken modulo its size."""

    type: str
    index: Expression


@dataclass(frozen=True)
class Apply:
    operation: str
    arguments: tuple[Expression, ...]


Expression = Constant | Name | Input | Apply


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expression


@dataclass(frozen=True)
class Atomic:
    """`add`, `max` or `xor` on a cell in global memory: their results do not depend on an order."""

    kind: str
    index: Expression
    value: Expression


@dataclass(frozen=True)
class If:
    """A branch that each thread takes alone, or one where lanes keep a mask of who is with them."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    with_mask: bool


@dataclass(frozen=True)
class Loop:
    """Runs 1 + count % 4 times; the count of a loop with barriers is the same for the whole block."""

    variable: str
    count: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class WarpOperation:
    """An exchange with the lanes of the current mask."""

    name: str
    kind: str
    value: Expression
    source: int


@dataclass(frozen=True)
class Store:
    """Each thread stores to a place of its own: (tid * factor + shift) % size."""

    array: str
    factor: int
    shift: int
    value: Expression
    condition: Expression


@dataclass(frozen=True)
class Add:
    """An atomic addition in shared memory."""

    array: str
    index: Expression
    value: Expression


@dataclass(frozen=True)
class Load:
    """Any thread may read any place."""

    name: str
    array: str
    index: Expression


@dataclass(frozen=True)
class WarpExchange:
    """Lanes write their own places and read those of their warp, with __syncwarp in between."""

    name: str
    array: str
    value: Expression
    index: Expression


@dataclass(frozen=True)
class Barrier:
    pass


@dataclass(frozen=True)
class VotingBarrier:
    """`count`, `and` or `or`."""

    name: str
    kind: str
    condition: Expression


Statement = (
    Assign
    | Atomic
    | If
    | Loop
    | WarpOperation
    | Store
    | Add
    | Load
    | WarpExchange
    | Barrier
    | VotingBarrier
)


@dataclass(frozen=True)
class Kernel:
    block_size: int
    body: tuple[Statement, ...]
