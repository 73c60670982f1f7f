"""Which local arrays are poisoned before they are written: those that may be read first.

The compiler poisons every variable without a value (`compiler.poison_flags`). For single numbers that
costs nothing where they are written first. An array it then no longer keeps in registers: a matrix
product took twice as long. So arrays that are clearly written first are marked to stay as they are.

Covered: `float sums[4]; ... sums[i] += x;`. Not covered: arrays of a loop's body that are handed to a
function, which nearly always fills them; types with commas in angle brackets, which are poisoned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cuda_gym.judge.toolchains.cuda_source import Source, closing

__all__ = ["AS_IT_IS", "arrays_written_first"]

AS_IT_IS: Final = " __attribute__((uninitialized))"
"""Stands behind the name of what is not poisoned."""

_DIMENSIONS = r"(?:\s*\[[^\[\];{}]*\])+"
_DECLARATION: Final = re.compile(
    r"(?<=[;{}])\s*"
    r"(?!(?:return|else|case|goto|delete|new|throw|typedef|using|extern|static|struct|class)\b)"
    r"(?:(?:alignas\s*\([^;{}]*?\)|[\w:]+(?:<[\w:\s*]*>)?)\s+)+?"
    rf"(?:\*\s*)*(?P<declared>\w+{_DIMENSIONS}(?:\s*,\s*\w+{_DIMENSIONS})*)\s*;"
)
_ARRAY: Final = re.compile(rf"(\w+){_DIMENSIONS}")
_LOOP: Final = re.compile(r"\b(?:for|while)\s*\(|\bdo\s*\{")
_WRITTEN: Final = re.compile(rf"{_DIMENSIONS}(?:\.\w+)?\s*=(?!=)")
_SUBSCRIPT: Final = re.compile(r"\s*\[")
_SHARED: Final = re.compile(r"__(?:shared|device|constant|managed)__")


def arrays_written_first(source: Source) -> Iterator[int]:
    """Offsets behind the names of local arrays that need no poison."""
    loops = list(_loops(source.code))
    for match in _DECLARATION.finditer(source.code):
        if _SHARED.search(match[0]):
            continue
        is_repeated = any(start < match.start() < end for start, end in loops)
        for array in _ARRAY.finditer(source.code, *match.span("declared")):
            if _is_written_first(source.code, match.end(), array[1], is_repeated=is_repeated):
                yield array.end()


def _is_written_first(code: str, behind: int, name: str, *, is_repeated: bool) -> bool:
    """Judged by the first mention of an array: handed to a function counts as written in a loop."""
    use = re.compile(rf"\b{name}\b").search(code, behind)
    if use is None or _WRITTEN.match(code, use.end()):
        return True
    return is_repeated and not _SUBSCRIPT.match(code, use.end())


def _loops(code: str) -> Iterator[tuple[int, int]]:
    """Where the bodies of loops begin and end."""
    for match in _LOOP.finditer(code):
        opening = match.end() - 1
        if code[opening] == "(":
            opening = closing(code, opening) + 1
            opening += len(code[opening:]) - len(code[opening:].lstrip())
        if code[opening : opening + 1] == "{":
            yield opening, closing(code, opening)
