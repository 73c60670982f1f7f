"""Where a file launches kernels: kernel<<<grid, block, shared_bytes, stream>>>(arguments).

Covered: launches inside macros and lambdas, over many lines, of a name, a template, a member or an
expression. Not covered: what a macro makes of its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_source import Source, closing

__all__ = ["LaunchText", "launches_in"]

_LONGEST_CALLEE = 600
_SPACE = r"(?:\s|\\\n)*"
_ARGUMENTS = re.compile(rf"{_SPACE}\(")
_NO_FUNCTIONS = ("if", "while", "for", "switch", "return", "else", "do", "case", "constexpr")


@dataclass(frozen=True, kw_only=True)
class LaunchText:
    """One launch; offsets in the masked text."""

    callee: tuple[int, int]
    configuration: tuple[int, int]
    """Between <<< and >>>."""
    arguments: tuple[int, int]
    """Between the parentheses."""


def launches_in(source: Source) -> Iterator[LaunchText]:
    """Every launch of a file.

    Raises:
        CompileError: where one cannot be read.
    """
    masked = source.masked
    position = 0
    while (opening := masked.find("<<<", position)) >= 0:
        end = masked.find(">>>", opening)
        if end < 0:
            raise _unreadable(source, opening, "<<< without >>>")
        arguments = _ARGUMENTS.match(masked, end + 3)
        if arguments is None:
            raise _unreadable(source, opening, "a launch without its list of arguments after >>>")
        start, stop = _callee(masked, opening)
        if start == stop:
            raise _unreadable(source, opening, "no name of a kernel in front of <<<")
        last = closing(masked, arguments.end() - 1)
        yield LaunchText(
            callee=(start, stop),
            configuration=(opening + 3, end),
            arguments=(arguments.end(), last),
        )
        position = end + 3


def _callee(masked: str, opening: int) -> tuple[int, int]:
    """Where what stands in front of <<< begins and ends: a name, or an expression behind one."""
    first = max(0, opening - _LONGEST_CALLEE)
    before = masked[first:opening].replace("\\\n", " \n").rstrip()
    start = end = len(before)
    while end > 0:
        if before[end - 1] in ">)]":
            bracket = _opening(before, end - 1)
            if bracket is None:
                break
            start = bracket
            end = len(before[:bracket].rstrip())
            if before[bracket] == "(" and not _is_called(before[:end]):
                break
            continue
        name = re.search(rf"(?:(?:\w|::)+{_SPACE}##{_SPACE})*(?:\w|::)*$", before[:end])
        if name is None or not name.group():
            break
        start = name.start()
        link = re.search(r"(?:\.|->)\s*(?:template\s+)?$", before[:start])
        if link is None:
            break
        end = len(before[: link.start()].rstrip())
    return first + start, first + len(before)


def _is_called(before: str) -> bool:
    """Whether an opening parenthesis behind this text belongs to a call, or to the cast in front."""
    if before.endswith(")"):
        bracket = _opening(before, len(before) - 1)
        before = before[:bracket].rstrip()
        return re.search(r"\b(?:if|while|for|switch)$", before) is None
    word = re.search(r"\w+$", before)
    return word.group() not in _NO_FUNCTIONS if word else before.endswith(("]", ">"))


def _opening(text: str, at: int) -> int | None:
    """The bracket that the one at the end closes; None where there is none."""
    closer = text[at]
    opener = {">": "<", ")": "(", "]": "["}[closer]
    depth = 0
    position = at
    while position >= 0:
        character = text[position]
        if closer == ">" and character in ")]":
            # A comparison in a template argument stands in parentheses.
            inner = _opening(text, position)
            if inner is None:
                return None
            position = inner
        depth += {closer: 1, opener: -1}.get(character, 0)
        if depth == 0:
            return position
        position -= 1
    return None


def _unreadable(source: Source, offset: int, what: str) -> CompileError:
    diagnostic = Diagnostic(
        severity=Severity.ERROR,
        message=f"{what}; a launch is kernel<<<grid, block, shared_bytes, stream>>>(arguments)",
        file=source.path,
        line=source.line(offset),
        column=source.column(offset),
    )
    return CompileError(str(diagnostic), (diagnostic,))
