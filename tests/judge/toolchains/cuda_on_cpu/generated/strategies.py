"""Random kernels without races, by construction.

A thread stores to shared memory at a place of its own, and barriers are put wherever a store, an
addition or a load would otherwise meet another one of a different kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random

from hypothesis import strategies as st
from tests.judge.toolchains.cuda_on_cpu.generated.trees import (
    FLOAT,
    INDICES,
    OPERATIONS,
    SHARED,
    UNSIGNED,
    VARIABLES,
    Add,
    Apply,
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

_BLOCK_SIZES = (1, 7, 32, 33, 64, 96, 100, 128)
_UNSIGNED_NAMES = tuple(name for name, type_ in VARIABLES.items() if type_ == UNSIGNED)
_ANY_MASK = ("leader", "ballot", "any", "all", "match", "sum", "smallest", "either")
_FULL_WARPS = ("across", "up", "down")


def kernels() -> st.SearchStrategy[Kernel]:
    """Kernels of a few statements, some of them nested.

    From a random number generator, not drawn choice by choice: hypothesis prefers small and repeated
    choices, which leaves half of the operations out.
    """
    return st.randoms(use_true_random=True).map(_kernel)


def _kernel(random: Random) -> Kernel:
    size = random.choice(_BLOCK_SIZES)
    body = _body(random, size, "block", (), depth=0, num=(4, 9))
    return Kernel(size, tuple(_with_barriers(body, _Accesses())))


def _expression(
    random: Random, type_: str, loops: tuple[str, ...], depth: int, uniform: bool = False
) -> Expression:
    if depth == 0 or random.randint(0, 3) == 0:
        if uniform:
            leaves: list[Expression] = [Constant(2), Constant(7), Name("block"), *map(Name, loops)]
            return _one_of(random, leaves)
        names = [name for name, has in VARIABLES.items() if has == type_]
        if type_ == FLOAT:
            index = Name(random.choice(_UNSIGNED_NAMES))
            return _one_of(random, [*map(Name, names), Input(FLOAT, index)])
        if random.random() < 0.5:
            return Constant(random.choice((random.randint(0, 40), random.getrandbits(32))))
        return Name(random.choice([*names, *INDICES, *loops]))
    if not uniform and random.randint(0, 5) == 0:
        return Input(type_, _expression(random, UNSIGNED, loops, depth - 1))
    fitting = [
        name
        for name, operation in OPERATIONS.items()
        if operation.gives == type_ and (not uniform or FLOAT not in operation.takes)
    ]
    name = random.choice(fitting)
    takes = OPERATIONS[name].takes
    return Apply(
        name, tuple(_expression(random, each, loops, depth - 1, uniform) for each in takes)
    )


def _one_of(random: Random, leaves: Sequence[Expression]) -> Expression:
    return random.choice(leaves)


def _body(
    random: Random, size: int, level: str, loops: tuple[str, ...], depth: int, num: tuple[int, int]
) -> tuple[Statement, ...]:
    count = random.randint(*num)
    return tuple(_statement(random, size, level, loops, depth) for _ in range(count))


def _statement(
    random: Random, size: int, level: str, loops: tuple[str, ...], depth: int
) -> Statement:
    kinds = ["assign", "assign", "atomic"]
    if depth < 2:
        kinds += ["if", "loop"]
    if level != "thread":
        kinds += ["warp", "warp", "masked if"] if depth < 2 else ["warp"]
    if level == "block":
        kinds += ["store", "store", "load", "load", "add", "exchange", "vote", "barrier"]
    kind = random.choice(kinds)
    if kind in ("if", "masked if", "loop"):
        return _nested(random, kind, size, level, loops, depth)
    if kind in ("store", "load", "add", "exchange", "vote", "barrier"):
        return _of_block(random, kind, size, loops)
    if kind == "warp":
        return _of_warp(random, size, level, loops)
    value = _expression(random, UNSIGNED, loops, 2)
    if kind == "atomic":
        index = _expression(random, UNSIGNED, loops, 1)
        return Atomic(random.choice(["add", "max", "xor"]), index, value)
    name = random.choice(list(VARIABLES))
    return Assign(name, _expression(random, VARIABLES[name], loops, 3))


def _nested(
    random: Random, kind: str, size: int, level: str, loops: tuple[str, ...], depth: int
) -> Statement:
    if kind == "loop":
        is_uniform = level == "block" and random.random() < 0.5
        inner = "block" if is_uniform else "thread"
        variable = f"i{len(loops)}"
        count = _expression(random, UNSIGNED, loops, 1, is_uniform)
        return Loop(
            variable, count, _body(random, size, inner, (*loops, variable), depth + 1, (1, 3))
        )
    inner = "warp" if kind == "masked if" else "thread"
    condition = _expression(random, UNSIGNED, loops, 2)
    then = _body(random, size, inner, loops, depth + 1, (1, 3))
    otherwise = (
        _body(random, size, inner, loops, depth + 1, (1, 2)) if random.random() < 0.5 else ()
    )
    return If(condition, then, otherwise, with_mask=kind == "masked if")


def _of_warp(random: Random, size: int, level: str, loops: tuple[str, ...]) -> Statement:
    kinds = list(_ANY_MASK)
    if level == "block":
        kinds.append("indexed")
        kinds += _FULL_WARPS if size % 32 == 0 else ()
    kind = random.choice(kinds)
    moves_floats = kind in ("leader", "indexed", *_FULL_WARPS)
    name = random.choice(list(VARIABLES) if moves_floats else _UNSIGNED_NAMES)
    value = _expression(random, VARIABLES[name], loops, 2)
    return WarpOperation(name, kind, value, random.randint(1, 15))


def _of_block(random: Random, kind: str, size: int, loops: tuple[str, ...]) -> Statement:
    if kind == "barrier":
        return Barrier()
    unsigned = random.choice(_UNSIGNED_NAMES)
    index = _expression(random, UNSIGNED, loops, 1)
    if kind == "vote":
        return VotingBarrier(unsigned, random.choice(["count", "and", "or"]), index)
    if kind == "add":
        value = _expression(random, UNSIGNED, loops, 1)
        return Add(random.choice(["s", "t"]), index, value)
    array = random.choice(list(SHARED))
    value = _expression(random, SHARED[array], loops, 2)
    name = random.choice([n for n, has in VARIABLES.items() if has == SHARED[array]])
    if kind == "load":
        return Load(name, array, index)
    if kind == "exchange":
        return WarpExchange(name, array, value, index)
    factor = random.choice([f for f in (1, 3, 5, 9, 11) if math.gcd(f, size) == 1])
    return Store(array, factor, random.randint(0, 40), value, index)


class _Accesses:
    """What has been done with each shared array since the last barrier."""

    def __init__(self) -> None:
        self._since: dict[str, str] = {}

    def must_wait(self, array: str, how: str) -> bool:
        """Whether an access needs a barrier first; it is remembered either way.

        Loads go with loads, additions with additions, and exchanges inside of warps with others;
        two stores may meet, since each has an order of its places of its own.
        """
        before = self._since.get(array)
        waits = before is not None and (before != how or how == "store")
        if waits:
            self._since.clear()
        self._since[array] = how
        return waits

    def clear(self) -> None:
        self._since.clear()

    @property
    def is_empty(self) -> bool:
        return not self._since


_HOW = {Store: "store", Load: "load", Add: "add", WarpExchange: "exchange"}


def _with_barriers(body: Sequence[Statement], accesses: _Accesses) -> Iterator[Statement]:
    for statement in body:
        match statement:
            case Loop(variable, count, inner):
                if not accesses.is_empty:
                    yield Barrier()
                    accesses.clear()
                inside = list(_with_barriers(inner, accesses))
                if not accesses.is_empty:
                    inside.append(Barrier())
                    accesses.clear()
                yield Loop(variable, count, tuple(inside))
            case Store() | Load() | Add() | WarpExchange():
                if accesses.must_wait(statement.array, _HOW[type(statement)]):
                    yield Barrier()
                yield statement
            case _:
                if isinstance(statement, Barrier | VotingBarrier):
                    accesses.clear()
                yield statement
