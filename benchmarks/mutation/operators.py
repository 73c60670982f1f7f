"""The faults that are made: operators on CUDA source, each a function from a text to edits.

Covered: what a text shows: bounds, comparisons, barriers, axes, terms, epsilons, tails, operands,
accumulators that start from anything, threads that write to one place. Operators that lose digits stand in
`precision.py`. Not covered: faults that need another algorithm.

Edits that cannot be faults are not made where the text shows it: a strict bound before a loop over the
rest, for example, which does the same work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from benchmarks.mutation.edits import Edit, FaultKind
from benchmarks.mutation.precision import PRECISION_OPERATORS

from cuda_gym.judge.toolchains.cuda_source import Source, closing

__all__ = ["BY_CONSTRUCTION", "OPERATORS", "kind_of"]

Operator = Callable[[Source], Iterator[Edit]]

_FOR_BOUND = re.compile(r"\bfor \([^;]*;\s*([\w + *()]+?)\s*(<=?)\s*([\w. ]+?);")
_CONDITION = re.compile(r"\b(if|while) \(")
_COMPARISON = re.compile(r"(?<=[\w\])]) (<=|>=|<|>) (?=[\w(])")
_BARRIER = re.compile(r"__sync(?:threads|warp)\(\);")
_AXIS = re.compile(r"\b(blockIdx|threadIdx)\.([xyz])\b")
_FLAT_INDEX = re.compile(r"(?<![\w.])(\w+) \* (\w+) \+ (\w+)(?=\])")
_TWO_INDICES = re.compile(r"\[([A-Za-z_][\w.]*)\]\[([A-Za-z_][\w.]*)\]")
_ELEMENT = r"[A-Za-z_]\w*(?:\[[^\[\]]*\](?:\[[^\[\]]*\])?|\([\w\[\]. +]*\))?"
_ADDED = re.compile(rf" \+ (?!=)({_ELEMENT})(?=[;),])")
_TAKEN_OFF = re.compile(rf" - ({_ELEMENT})(?=[;),])")
_FACTOR = re.compile(rf" \* ({_ELEMENT})(?=[;)]| [+-] )")
_BIAS_START = re.compile(r"= (bias\[[^\]]*\]);")
_CALLED = re.compile(r"= (relu|gelu|silu|hardswish|\w*clamp\w*)(?=\()")
_EPSILON = re.compile(r" \+ (eps)\b")
_ASYMMETRIC = re.compile(rf"(?<![\w.)\]]) ?\(?({_ELEMENT}) ([-/]) ({_ELEMENT})(?=[;), ])")
_ROUNDED_UP = re.compile(r"\((\w+) \+ (\w+) - 1\) / (\2)\b")
_TAIL = re.compile(r"\bfor \(; [^;]*; \+\+\w+\)")
_ZEROED = re.compile(r"\bfloat (\w+(?:\[\w+\])*) = (?:0\.0f|\{\});")
_ZEROED_MEMORY = re.compile(
    r"^ *(?:for \([^;]*;[^;]*;[^)]*\)\s*)*\w+\[[^;=]*\] = 0\.0f;", re.MULTILINE
)
_SHARED_WRITE = re.compile(r"(?<=\[)(threadIdx\.[xy]|t)(?=\](?:\[\w[\w.]*\])? = )")
_ATOMIC = re.compile(r"\batomicAdd\(&?([^,()]+), ([^;]+)\);")


def _bounds(source: Source) -> Iterator[Edit]:
    """`i < n` becomes `i < n - 1`, and `i < n + 1`."""
    for match in _FOR_BOUND.finditer(source.code):
        if match[2] == "<" and "+" not in match[1]:
            start, end = match.span(3)
            for other in (f"{match[3]} - 1", f"{match[3]} + 1"):
                yield Edit(operator="bound off by one", start=start, end=end, text=other)


def _comparisons(source: Source) -> Iterator[Edit]:
    """`<` becomes `<=`, and the other way round, wherever work is divided."""
    swapped = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    for condition in _CONDITION.finditer(source.code):
        stop = closing(source.code, condition.end() - 1)
        for match in _COMPARISON.finditer(source.code, condition.end(), stop):
            start, end = match.span(1)
            yield Edit(operator="< for <=", start=start, end=end, text=swapped[match[1]])


def _barriers(source: Source) -> Iterator[Edit]:
    for match in _BARRIER.finditer(source.code):
        yield Edit(operator="dropped barrier", start=match.start(), end=match.end(), text=";")


def _axes(source: Source) -> Iterator[Edit]:
    """Another axis of the grid, or of an array."""
    for match in _AXIS.finditer(source.code):
        other = "y" if match[2] == "x" else "x"
        yield Edit(operator="wrong axis", start=match.start(2), end=match.end(2), text=other)
    for match in _FLAT_INDEX.finditer(source.code):
        turned = f"{match[3]} * {match[2]} + {match[1]}"
        yield Edit(operator="wrong axis", start=match.start(), end=match.end(), text=turned)
    for match in _TWO_INDICES.finditer(source.code):
        turned = f"[{match[2]}][{match[1]}]"
        if match[1] != match[2] and not match[1].isupper() and not match[2].isupper():
            yield Edit(operator="wrong axis", start=match.start(), end=match.end(), text=turned)


def _terms(source: Source) -> Iterator[Edit]:
    """A term, a factor or a function of what is stored is left out; the bias is a fault of its own."""
    for pattern in (_ADDED, _TAKEN_OFF, _FACTOR):
        for match in pattern.finditer(source.code):
            if not _is_computed(source, match.start()):
                continue
            name = "skipped bias" if match[1].startswith("bias") else "dropped term"
            yield Edit(operator=name, start=match.start(), end=match.end(1), text="")
    for match in _BIAS_START.finditer(source.code):
        yield Edit(operator="skipped bias", start=match.start(1), end=match.end(1), text="0.0f")
    for match in _CALLED.finditer(source.code):
        yield Edit(operator="dropped term", start=match.start(1), end=match.end(1), text="")


def _epsilons(source: Source) -> Iterator[Edit]:
    for match in _EPSILON.finditer(source.code):
        for other in ("", " + 100.0f * eps", " + 1e-3f"):
            yield Edit(operator="wrong epsilon", start=match.start(), end=match.end(), text=other)


def _operands(source: Source) -> Iterator[Edit]:
    """`a - b` becomes `b - a`; likewise for `/`."""
    for match in _ASYMMETRIC.finditer(source.code):
        if _is_computed(source, match.start()):
            turned = f"{match[3]} {match[2]} {match[1]}"
            start, end = match.start(1), match.end(3)
            yield Edit(operator="swapped operands", start=start, end=end, text=turned)


def _tails(source: Source) -> Iterator[Edit]:
    """What does not fill a block, or a vector, is left out."""
    for match in _ROUNDED_UP.finditer(source.code):
        text = f"{match[1]} / {match[3]}"
        yield Edit(operator="missing tail", start=match.start(), end=match.end(), text=text)
    for match in _TAIL.finditer(source.code):
        end = _end_of_loop(source.code, match.start())
        yield Edit(operator="missing tail", start=match.start(), end=end, text=";")


def _end_of_loop(code: str, start: int) -> int:
    """Behind the last character of a loop, and of those that are its body."""
    body = closing(code, code.index("(", start)) + 1
    body += len(code[body:]) - len(code[body:].lstrip())
    if code[body : body + 1] == "{":
        return closing(code, body) + 1
    if code.startswith("for (", body):
        return _end_of_loop(code, body)
    return code.find(";", body) + 1


def _unwritten(source: Source) -> Iterator[Edit]:
    """A sum that starts from whatever was there."""
    for match in _ZEROED.finditer(source.code):
        text = f"float {match[1]};"
        yield Edit(operator="unwritten sum", start=match.start(), end=match.end(), text=text)
    for match in _ZEROED_MEMORY.finditer(source.code):
        yield Edit(operator="unwritten sum", start=match.start(), end=match.end(), text=";")


def _races(source: Source) -> Iterator[Edit]:
    """Two threads write to one place of shared memory, or add to one without waiting."""
    for match in _SHARED_WRITE.finditer(source.code):
        text = f"{match[1]} / 2"
        yield Edit(
            operator="race on shared memory", start=match.start(), end=match.end(), text=text
        )
    for match in _ATOMIC.finditer(source.code):
        text = f"{match[1]} += {match[2]};"
        yield Edit(
            operator="race on shared memory", start=match.start(), end=match.end(), text=text
        )


def _is_computed(source: Source, offset: int) -> bool:
    """Whether a place is in arithmetic on values: not in an index, a loop's head or a launch's size."""
    start = max(source.code.rfind(mark, 0, offset) for mark in ";{}") + 1
    statement = source.code[start : source.code.find(";", offset)]
    depth = sum({"[": 1, "]": -1}.get(c, 0) for c in source.code[start:offset])
    is_of_index = re.match(
        r"\s*(?:const |constexpr )*(?:int|size_t|dim3|bool|unsigned|long)\b", statement
    )
    is_pointer = re.match(r"\s*(?:const )?\w+\s*\* ?(?:const )?\w+ =", statement)
    return depth == 0 and not is_of_index and not is_pointer and "<<<" not in statement


_TEXT_OPERATORS: Final[tuple[Operator, ...]] = (
    _bounds,
    _comparisons,
    _barriers,
    _axes,
    _terms,
    _epsilons,
    _operands,
    _tails,
    _unwritten,
    _races,
)

OPERATORS: Final[tuple[Operator, ...]] = (*_TEXT_OPERATORS, *PRECISION_OPERATORS)
"""All that read nothing but the text."""

_KINDS: Final[Mapping[str, FaultKind]] = {
    "dropped barrier": FaultKind.MEMORY,
    "race on shared memory": FaultKind.MEMORY,
    "unwritten sum": FaultKind.MEMORY,
    "reduced precision": FaultKind.PRECISION,
    "float16 accumulation": FaultKind.PRECISION,
}

BY_CONSTRUCTION: Final = frozenset({"dropped barrier", "race on shared memory", "unwritten sum"})
"""Operators whose mutants are faults even where this device, which runs threads in an order of its
own, gives the right outputs: all barriers of the kernels that are changed are needed."""


def kind_of(operator: str) -> FaultKind:
    """What sort of fault an operator makes.

    >>> kind_of("float16 accumulation").value
    'precision'
    """
    return _KINDS.get(operator, FaultKind.LOGIC)
