"""Whether sources are kernels and nothing else, so that no host compiler is needed.

Covered: functions, launches and `#include`s in the text itself. Not covered: what macros and headers of
others hide; the compiler finds it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from cuda_gym.judge.toolchains.cuda_tokens import (
    Token,
    definitions,
    read_tokens,
    without_attributes,
)

__all__ = ["host_code"]

_INCLUDE = re.compile(r'^[^\S\n]*#[^\S\n]*include\b[^\S\n]*(?:<([^>\n]+)>|"([^"\n]+)"|(.*))', re.M)
_TYPES = frozenset({"class", "struct", "union", "enum"})
_SPACES = frozenset({"__global__", "__device__"})


def host_code(files: Mapping[str, str], known_headers: frozenset[str]) -> str | None:
    """What in the files is for the host, with its place; None where nothing is.

    Args:
        files: Texts by path, headers among them.
        known_headers: The headers in angle brackets that kernels may include.

    >>> host_code({"a.cu": "__global__ void f(int* x) { x[0] = 1; }"}, frozenset())
    >>> host_code({"a.cu": "int twice(int x) { return 2 * x; }"}, frozenset())
    'a.cu:1: function twice'
    """
    for path, text in files.items():
        for match in _INCLUDE.finditer(text):
            if not _is_for_devices(match, path, files, known_headers):
                line = text.count("\n", 0, match.start()) + 1
                return f"{path}:{line}: {match[0].strip()}"
        tokens = read_tokens(text)
        if found := _launch(tokens) or _host_function(tokens):
            return f"{path}:{found}"
    return None


def _is_for_devices(
    match: re.Match[str], path: str, files: Mapping[str, str], known: frozenset[str]
) -> bool:
    """Whether an `#include` brings in a file of the submission, or a header for kernels."""
    name = match[1] or match[2]
    if name is None:
        return False
    if match[2] and posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) in files:
        return True
    return name in known or name.startswith("cuda/")


def _launch(tokens: Sequence[Token]) -> str | None:
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if first.text == second.text == third.text == "<":
            return f"{first.line}: a launch"
    return None


def _host_function(tokens: Sequence[Token]) -> str | None:
    """The first function at namespace scope that is not said to be the device's."""
    for definition in definitions(tokens):
        head = without_attributes(definition.head)
        words = [token.text for token in head]
        if "(" not in words or "=" in words or _TYPES.intersection(words[: words.index("(")]):
            continue
        if not _SPACES.intersection(words):
            name = head[words.index("(") - 1]
            return f"{name.line}: function {name.text}"
    return None
