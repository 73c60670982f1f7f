"""CUDA C++ without its comments and strings: what is left is code, at the same places."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["includes", "line_of", "mask", "own_functions"]

# A branch that could fail after a long scan also accepts the end of the text, so that no input
# makes the scan quadratic.
_OPAQUE = re.compile(
    r"""
      (?P<comment> //(?: \\. | [^\\\n] )* | /\*.*?(?:\*/|\Z) )
    | (?P<string>
          R"(?P<fence>[^()\\\s"]{0,16})\(.*?(?:\)(?P=fence)"|\Z)
        | "(?: \\. | [^"\\\n] )*"?
        | '(?: \\. | [^'\\\n] )*'?
      )
    | \d(?: '?[\w.] )*
    """,
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(
    r"^[^\S\n]*\#[^\S\n]*include[^\S\n]*(?P<opening>[<\"])(?P<name>[^>\"\n]*)", re.MULTILINE
)
_FUNCTION = re.compile(
    r"(?<=\w)[\s*&]++(?P<name>\w++)\s*+\([^;{}()]*+\)\s*+(?:(?:const|noexcept)\s*+)?\{"
)
_VARIABLE = re.compile(r"\b(?P<name>\w++)\s*+=(?!=)")


def mask(text: str) -> str:
    """The same text with blanks for comments and for what stands in strings.

    >>> mask('x("a"); // b')
    'x(" ");     '
    """

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if match["comment"] is not None:
            return re.sub(r"[^\n]", " ", found)
        if match["string"] is not None and len(found) > 1:
            return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]
        return found

    return _OPAQUE.sub(blank, text)


def line_of(text: str, position: int) -> int:
    """The line of a place, from 1."""
    return text.count("\n", 0, position) + 1


def includes(code: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and header of each `#include` of masked code, read from the text itself."""
    for match in _INCLUDE.finditer(code):
        start, end = match.span("name")
        yield line_of(code, start), text[start:end].strip()


def own_functions(code: str) -> frozenset[str]:
    """Names that the code itself gives to a function with a body, or to a variable."""
    found = (match["name"] for kind in (_FUNCTION, _VARIABLE) for match in kind.finditer(code))
    return frozenset(found)
