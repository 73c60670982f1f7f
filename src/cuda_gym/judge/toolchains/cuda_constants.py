"""Whole numbers that a text of CUDA C++ gives names to, as far as they can be read off.

Covered: literals, arithmetic, `sizeof` of plain types, casts, `constexpr`, `const` and other variables with
an initialiser that nothing changes before the place of use, `#define`, `dim3`. The definition that is
nearest above a place counts. Not covered: template parameters, arguments, calls.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from cuda_gym.judge.toolchains.cuda_source import Source, closing

__all__ = ["block_threads", "whole_number"]

_SIZES = {
    "char": 1, "int8_t": 1, "uint8_t": 1, "bool": 1, "short": 2, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "nv_bfloat16": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4,
    "uint32_t": 4, "half2": 4, "__half2": 4, "double": 8, "long long": 8, "size_t": 8, "int64_t": 8,
    "uint64_t": 8, "float2": 8, "int2": 8, "float4": 16, "int4": 16,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_MOST = 1 << 40
_DEEPEST = 8
_TYPE = r"(?:unsigned|signed|int|long|short|char|size_t|auto|u?int\d+_t)"
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*(\w+(?: long)?)\s*\)")
_CAST = re.compile(
    rf"\(\s*{_TYPE}(?:\s+{_TYPE})*\s*\)|\bstatic_cast\s*<[^<>]*>|\b(?:int|size_t|unsigned)(?=\s*\()"
)
_SUFFIX = re.compile(r"\b(\d+|0[xX][0-9a-fA-F]+)(?:[uU][lL]{0,2}|[lL]{1,2}[uU]?)\b")
_DIM3 = re.compile(r"\s*(?:dim3\s*)?(?=[({])")


def whole_number(text: str, source: Source, offset: int, *, depth: int = 0) -> int | None:
    r"""The value of an expression at a place of a file; None where it is not known there.

    >>> source = Source("a.cu", "#define T 4\nconstexpr int threads = T * 32;\nvoid f() {}")
    >>> whole_number("threads * sizeof(float)", source, len(source.text))
    512
    """
    text = _SIZEOF.sub(lambda found: str(_SIZES.get(found[1], found[0])), text)
    text = _SUFFIX.sub(r"\1", _CAST.sub("", text)).replace("/", "//").strip()
    if depth > _DEEPEST or not text or len(text) > 200:
        return None
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return None
    return _value(tree.body, source, offset, depth)


def block_threads(text: str, source: Source, offset: int) -> int | None:
    """Threads of a block that is written as a number, a `dim3`, or the name of one of these.

    >>> block_threads("dim3(16, 16)", Source("a.cu", ""), 0)
    256
    """
    if opened := _DIM3.match(text):
        inside = text[opened.end() + 1 : closing(text, opened.end())]
        is_whole = not text[closing(text, opened.end()) + 1 :].strip()
        if "dim3" in opened[0] or (is_whole and "," in inside):
            return _product(inside, source, offset)
    name = text.strip()
    if not name.isidentifier():
        return whole_number(text, source, offset)
    declared = re.compile(rf"\bdim3\s+{name}\s*(?:=\s*(?:dim3\s*)?)?(?=[({{])")
    if (found := _nearest(declared, source, offset)) is None:
        return whole_number(text, source, offset)
    if _changes(name, source, found.end(), offset):
        return None
    end = closing(source.masked, found.end())
    return _product(source.masked[found.end() + 1 : end], source, found.start())


def _product(text: str, source: Source, offset: int) -> int | None:
    """Of the sizes along each direction."""
    sizes = [whole_number(part, source, offset) for part in text.split(",") if part.strip()]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if known and len(known) == len(sizes) else None


def _value(node: ast.expr, source: Source, offset: int, depth: int) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        return _named(node.id, source, offset, depth + 1)
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return None
    left = _value(node.left, source, offset, depth)
    right = _value(node.right, source, offset, depth)
    if left is None or right is None or not _is_small(node.op, right):
        return None
    value = _OPERATORS[type(node.op)](left, right)
    return value if 0 <= value <= _MOST else None


def _is_small(how: ast.operator, right: int) -> bool:
    """Whether an operator may be applied: no division by zero, no number that fills the memory."""
    if isinstance(how, (ast.FloorDiv, ast.Mod)):
        return right > 0
    return not isinstance(how, (ast.LShift, ast.RShift)) or right < 40


def _named(name: str, source: Source, offset: int, depth: int) -> int | None:
    macro = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{name}[ \t]+([^\n]+)$", re.MULTILINE)
    if found := _nearest(macro, source, offset):
        return whole_number(found[1], source, found.start(), depth=depth)
    variable = re.compile(rf"\b{_TYPE}\s+{name}\s*(?:=\s*([^;,{{}}]+)|\{{([^{{}}]*)\}})\s*[;,]")
    found = _nearest(variable, source, offset)
    if found is None or _changes(name, source, found.end(), offset):
        return None
    return whole_number(found[1] or found[2] or "", source, found.start(), depth=depth)


def _nearest(pattern: re.Pattern[str], source: Source, offset: int) -> re.Match[str] | None:
    """The last match in front of a place."""
    found = None
    for match in pattern.finditer(source.masked, 0, offset):
        found = match
    return found


def _changes(name: str, source: Source, start: int, end: int) -> bool:
    """Whether a variable, or a part of it, gets another value between two places."""
    change = rf"\b{name}\s*(?:\.\s*\w+\s*)?(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)|(?:\+\+|--|&)\s*{name}\b"
    return re.search(change, source.masked[start:end]) is not None
