"""Lambdas in kernels that name their captures, and read an index of the thread besides.

    [n](int k) { return k * n + threadIdx.x; }    becomes [n, threadIdx](int k) { ... }

On a GPU `threadIdx` is no variable of the kernel, and so needs no capture; here it is one. Covered:
lambdas inside of lambdas, templates of lambdas. Not covered: indices that only a macro mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuda_gym.judge.toolchains.cuda_source import Edits, closing

__all__ = ["capture_indices"]

# Between a bracket and the word before it: bounded, so that large files take linear time.
_LONGEST_GAP = 100
_INDICES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_TEMPLATE = re.compile(r"\s*<[^;{}()]*>")
_PARAMETERS = re.compile(r"\s*\(")
_BODY = re.compile(r"[^;{}]{0,200}?\{")
_DEFAULT = re.compile(r"\s*(?:=|&\s*(?:,|$))")


def capture_indices(masked: str, body: int, edits: Edits) -> None:
    """Add the indices that the lambdas of a kernel read to what they capture.

    Args:
        masked: The text of the file.
        body: Offset behind the opening brace of the kernel.
        edits: Where the changes are collected.
    """
    for opening, end, text in _lambdas(masked, body, closing(masked, body - 1)):
        captures = masked[opening + 1 : end]
        if _DEFAULT.match(captures):
            continue
        read = [n for n in _INDICES if re.search(rf"\b{n}\b", text)]
        missing = [n for n in read if not re.search(rf"\b{n}\b", captures)]
        if missing:
            edits.insert(end, (", " if captures.strip() else "") + ", ".join(missing))


def _lambdas(masked: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """The brackets around the captures of each lambda, and its body."""
    for match in re.compile(r"\[").finditer(masked, start, stop):
        near = masked[max(start, match.start() - _LONGEST_GAP) : match.start()]
        before = re.search(r"(\w+|\S)\s*$", near)
        word = before[1] if before else ""
        is_subscript = word != "return" and re.fullmatch(r"\w+|[)\]\[]", word) is not None
        if is_subscript or masked.startswith("[[", match.start()):
            continue
        end = closing(masked, match.start())
        after = end + 1
        if template := _TEMPLATE.match(masked, after, stop):
            after = template.end()
        if parameters := _PARAMETERS.match(masked, after, stop):
            after = closing(masked, parameters.end() - 1) + 1
        if body := _BODY.match(masked, after, stop):
            yield match.start(), end, masked[body.end() : closing(masked, body.end() - 1)]
