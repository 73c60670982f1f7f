"""CUDA C++ without its comments, its strings and what `#if 0` leaves out: the rest is code, at the same places.

Not covered: conditions that only a compiler can decide; both of their branches count as code.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterator

__all__ = ["includes", "is_own_file", "line_of", "mask", "own_functions"]

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
_CONDITION = re.compile(
    r"^[^\S\n]*\#[^\S\n]*(?P<word>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?P<rest>[^\n]*)",
    re.MULTILINE,
)
_HIDES_DIRECTIVE = re.compile(r"%:|\?\?=|\\[^\S\n]*\n|R\"")
"""With these an `#endif` can be spelled so that only a compiler sees it, or is seen where there is none."""
_CONTINUED = re.compile(r"\\[^\S\n]*\n\Z")
_INCLUDE = re.compile(
    r"^[^\S\n]*\#[^\S\n]*include[^\S\n]*(?P<opening>[<\"])(?P<name>[^>\"\n]*)", re.MULTILINE
)
_UPWARDS = re.compile(r"(?:\.\./)+")
_FUNCTION = re.compile(
    r"(?<=\w)[\s*&]++(?P<name>\w++)\s*+\([^;{}()]*+\)\s*+(?:(?:const|noexcept)\s*+)?\{"
)
_VARIABLE = re.compile(r"\b(?P<name>\w++)\s*+=(?!=)")


def mask(text: str) -> str:
    r"""The same text with blanks for comments, for what stands in strings and behind `#if 0`.

    >>> mask('x("a"); // b')
    'x(" ");     '
    >>> mask("#if 0\nx y\n#endif\nz")
    '#if 0\n   \n#endif\nz'
    """

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        if match["comment"] is not None:
            return re.sub(r"[^\n]", " ", found)
        if match["string"] is not None and len(found) > 1:
            return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]
        return found

    return _without_dead_code(_OPAQUE.sub(blank, text), text)


def line_of(text: str, position: int) -> int:
    """The line of a place, from 1."""
    return text.count("\n", 0, position) + 1


def includes(code: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Line, opening and header of each `#include` of masked code, read from the text itself."""
    for match in _INCLUDE.finditer(code):
        start, end = match.span("name")
        yield line_of(code, start), match["opening"], text[start:end].strip()


def is_own_file(path: str, header: str, files: Container[str]) -> bool:
    """Whether a header in quotes is a file of `kernels/`, reached from a folder in there.

    >>> is_own_file("kernels/a/a.cu", "../b/b.cuh", {"kernels/b/b.cuh"})
    True

    Only steps upwards at its beginning count: the folders of the file that includes it are there.
    """
    steps = _UPWARDS.match(header)
    name = header[steps.end() :] if steps else header
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), header))
    is_header = target.startswith("kernels/") and target.endswith((".cuh", ".h", ".hpp"))
    return steps is not None and ".." not in name and is_header and target in files


def own_functions(code: str) -> frozenset[str]:
    """Names that the code itself gives to a function with a body, or to a variable."""
    found = (match["name"] for kind in (_FUNCTION, _VARIABLE) for match in kind.finditer(code))
    return frozenset(found)


def _without_dead_code(code: str, text: str) -> str:
    """Code without what stands between `#if 0` and the directive that ends it.

    Args:
        code: Without comments and strings.
        text: With them: what might make a compiler see another end stays code.
    """
    parts: list[str] = []
    position = depth = 0
    start: int | None = None
    for match in _CONDITION.finditer(code):
        word = match["word"]
        if start is None:
            if word == "if" and match["rest"].strip() == "0" and _is_line(text, match.start()):
                start, depth = match.end(), 0
        elif word.startswith("if"):
            depth += 1
        elif depth == 0:
            if not _HIDES_DIRECTIVE.search(text, start, match.start()):
                blank = re.sub(r"[^\n]", " ", code[start : match.start()])
                parts += (code[position:start], blank)
                position = match.start()
            start = None
        elif word == "endif":
            depth -= 1
    return "".join((*parts, code[position:]))


def _is_line(text: str, start: int) -> bool:
    """Whether a line begins there, and not what continues the one above."""
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return _CONTINUED.search(text, above, start) is None
