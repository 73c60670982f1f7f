"""What a tree computes: all threads of a block go through it together, statement by statement.

Since no kernel here has a race, every order of its threads gives this result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.judge.toolchains.cuda_on_cpu.generated.trees import (
    FLOAT,
    INPUT_SIZE,
    NUM_SUMS,
    OPERATIONS,
    SHARED,
    UNSIGNED,
    Add,
    Apply,
    Array,
    Assign,
    Atomic,
    Barrier,
    Constant,
    Expression,
    If,
    Input,
    Kernel,
    Load,
    Loop,
    Name,
    Statement,
    Store,
    VotingBarrier,
    WarpExchange,
    WarpOperation,
)

_TYPES = {UNSIGNED: np.uint32, FLOAT: np.float32}
_ATOMICS = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}


@dataclass(frozen=True)
class Results:
    """What a kernel leaves in memory."""

    out: Array
    floats: Array
    sums: Array


def interpreted(kernel: Kernel, inputs: dict[str, Array], num_blocks: int) -> Results:
    """Run all blocks, one after another."""
    sums = np.zeros((3, NUM_SUMS), np.uint32)
    blocks = []
    with np.errstate(all="ignore"):
        for number in range(num_blocks):
            block = _Block(kernel.block_size, number, inputs, sums)
            block.run(kernel.body, np.ones(kernel.block_size, bool))
            blocks.append(block.names)
    out = np.stack([np.concatenate([b[name] for b in blocks]) for name in "abc"], 1)
    floats = np.stack([np.concatenate([b[name] for b in blocks]) for name in "pq"], 1)
    return Results(out, floats, sums)


@dataclass
class _Block:
    size: int
    number: int
    inputs: dict[str, Array]
    sums: Array
    names: dict[str, Array] = field(init=False)
    shared: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        tid = np.arange(self.size, dtype=np.uint32)
        whole = {"tid": tid, "lane": tid % 32, "a": tid.copy()}
        same = {"block": self.number, "size": self.size, "b": self.number, "c": 1}
        self.names = {
            **whole,
            **{name: np.full(self.size, value, np.uint32) for name, value in same.items()},
            "p": np.full(self.size, 0.5, np.float32),
            "q": np.full(self.size, -1.0, np.float32),
        }
        self.shared = {name: np.zeros(self.size, _TYPES[type_]) for name, type_ in SHARED.items()}

    def run(self, body: Sequence[Statement], active: Array) -> None:
        for statement in body:
            match statement:
                case If(condition, then, otherwise):
                    taken = self._holds(condition)
                    self.run(then, active & taken)
                    self.run(otherwise, active & ~taken)
                case Loop(variable, count, inner):
                    end = 1 + self._value(count) % 4
                    for turn in range(int(end.max())):
                        self.names[variable] = np.full(self.size, turn, np.uint32)
                        self.run(inner, active & (turn < end))
                case WarpOperation():
                    self._exchange(statement, active)
                case _:
                    self._simple(statement, active)

    def _simple(self, statement: Statement, active: Array) -> None:
        tid = self.names["tid"]
        match statement:
            case Assign(name, value):
                self._set(name, self._value(value), active)
            case Atomic(kind, index, value):
                row = self.sums[list(_ATOMICS).index(kind)]
                places = self._value(index)[active] % NUM_SUMS
                _ATOMICS[kind].at(row, places, self._value(value)[active])
            case Store(array, factor, shift, value, condition):
                stored = active & self._holds(condition)
                places = (tid * np.uint32(factor) + np.uint32(shift)) % self.size
                self.shared[array][places[stored]] = self._value(value)[stored]
            case Add(array, index, value):
                places = self._value(index)[active] % self.size
                np.add.at(self.shared[array], places, self._value(value)[active])
            case Load(name, array, index):
                self._set(name, self.shared[array][self._value(index) % self.size], active)
            case WarpExchange(name, array, value, index):
                self.shared[array][:] = self._value(value)
                first = tid - self.names["lane"]
                places = first + self._value(index) % np.minimum(self.size - first, 32)
                self._set(name, self.shared[array][places], active)
            case VotingBarrier(name, kind, condition):
                votes = self._holds(condition)
                result = {"count": votes.sum(), "and": votes.all(), "or": votes.any()}[kind]
                self._set(name, np.full(self.size, result, np.uint32), active)
            case Barrier():
                pass
            case _:
                raise TypeError(f"{statement} is not simple")

    def _exchange(self, statement: WarpOperation, active: Array) -> None:
        value = self._value(statement.value)
        result = np.zeros_like(value)
        for first in range(0, self.size, 32):
            warp = slice(first, min(first + 32, self.size))
            lanes = np.flatnonzero(active[warp])
            if len(lanes):
                operation = _WARP_OPERATIONS[statement.kind]
                result[warp] = operation(value[warp], lanes, statement.source)
        self._set(statement.name, result, active)

    def _set(self, name: str, value: Array, active: Array) -> None:
        self.names[name] = np.where(active, value, self.names[name])

    def _holds(self, condition: Expression) -> Array:
        holds: Array = (self._value(condition) & 1).astype(bool)
        return holds

    def _value(self, expression: Expression) -> Array:
        match expression:
            case Constant(value):
                return np.full(self.size, value, np.uint32)
            case Name(name):
                return self.names[name]
            case Input(type_, index):
                element: Array = self.inputs[type_][self._value(index) % INPUT_SIZE]
                return element
            case Apply(operation, arguments):
                result: Array = OPERATIONS[operation].compute(*map(self._value, arguments))
                return result


def _mask(lanes: Array) -> int:
    return sum(1 << int(lane) for lane in lanes)


def _match(values: Array, lanes: Array, _: int) -> Array:
    same = [_mask(lanes[values[lanes] % 4 == value % 4]) for value in values]
    return np.array(same, np.uint32)


def _all_lanes(values: Array) -> Array:
    return np.arange(len(values))


_WARP_OPERATIONS: dict[str, Callable[[Array, Array, int], Any]] = {
    "leader": lambda v, lanes, _: v[lanes[0]],
    "indexed": lambda v, _, source: np.roll(v, -source),
    "across": lambda v, _, source: v[_all_lanes(v) ^ source],
    "up": lambda v, _, source: v[
        np.where(_all_lanes(v) >= source, _all_lanes(v) - source, _all_lanes(v))
    ],
    "down": lambda v, _, source: v[
        np.where(_all_lanes(v) % 16 + source < 16, _all_lanes(v) + source, _all_lanes(v))
    ],
    "ballot": lambda v, lanes, _: np.uint32(_mask(lanes[(v[lanes] & 1).astype(bool)])),
    "any": lambda v, lanes, _: (v[lanes] % 8 == 3).any(),
    "all": lambda v, lanes, _: (v[lanes] % 8 != 3).all(),
    "match": _match,
    "sum": lambda v, lanes, _: v[lanes].sum(dtype=np.uint32),
    "smallest": lambda v, lanes, _: v[lanes].view(np.int32).min().view(np.uint32),
    "either": lambda v, lanes, _: np.bitwise_or.reduce(v[lanes]),
}
