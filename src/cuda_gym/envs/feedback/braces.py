"""Which brace is missing, or one too many: told by the indentation.

The compiler notices a missing brace only where the text makes no sense any more, often at the end
of the file. Whoever wrote the file has indented it by what was meant: where braces and indentation
contradict each other, there it is. Not covered: braces that a macro adds.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cuda_gym.judge.verification.cpp_text import mask

__all__ = ["find_brace_trouble"]

_TOP_LEVEL = re.compile(r'extern "C"|__global__|__device__|template\b')
_SCOPE = re.compile(
    r'\s*(?:(?:inline\s+)?namespace|struct|class|union|enum)\b|\s*extern\s+"."\s*\{'
)
_Opened = list[tuple[int, int]]
"""Line and indentation of every brace that is open; -1 where functions may stand in it."""


@lru_cache(maxsize=16)
def find_brace_trouble(text: str) -> str | None:
    r"""The first contradiction between braces and indentation, in words; None where there is none.

    >>> find_brace_trouble("void f() {\n    if (a) {\n        b();\n}\nvoid g() {}\n")
    "the '{' of line 2 is not closed before line 4"
    """
    opened: _Opened = []
    written = text.split("\n")
    parentheses = indent = 0
    is_head = False
    for number, line in enumerate(mask(text).expandtabs(4).split("\n"), start=1):
        if opened and opened[-1][1] >= 0 and _TOP_LEVEL.match(written[number - 1]):
            return f"the '{{' of line {opened[-1][0]} is not closed before line {number}"
        # What stands before a body may go on over several lines, indented as one likes.
        if not parentheses and not (is_head and indent == 0):
            indent = len(line) - len(line.lstrip())
        if found := _follow(line, number, indent, opened):
            return found
        parentheses = max(0, parentheses + line.count("(") - line.count(")"))
        is_head = line.strip() != "" and not line.rstrip().endswith((";", "{", "}", ":", "#"))
        is_head = is_head and not line.lstrip().startswith("#")
    return f"the '{{' of line {opened[-1][0]} is never closed" if opened else None


def _follow(line: str, number: int, indent: int, opened: _Opened) -> str | None:
    """Take the braces of one line into account."""
    is_scope = _SCOPE.match(line) is not None
    is_first = True
    for sign in line.strip():
        if sign == "{":
            opened.append((number, -1 if is_scope else indent))
        elif sign == "}":
            if not opened:
                return f"the '}}' of line {number} closes nothing: there is one '}}' too many"
            start, level = opened.pop()
            if is_first and level > indent:
                return f"the '{{' of line {start} is not closed before line {number}"
            if is_first and 0 <= level < indent:
                return (
                    f"the '}}' of line {number} closes the '{{' of line {start}: one '}}' too many"
                )
        is_first = is_first and sign in "} "
    return None
