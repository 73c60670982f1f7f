"""What a submission printed, short: repeated lines once, head and tail, and how much is missing."""

from __future__ import annotations

import re
from itertools import groupby

__all__ = ["describe_printed"]

_MAX_CHARS = 500
_MAX_LINE_CHARS = 160
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\bnan\b|\binf\b")


def describe_printed(output: str) -> str:
    r"""The text under its heading; empty where nothing was printed.

    Lines in a row that differ in their numbers alone are one line: threads print so.

    >>> print(describe_printed("start\n" + "".join(f"thread {i}\n" for i in range(500)) + "end"))
    It printed 502 lines:
      start
      thread 0
        ... 499 more like it, the last: thread 499
      end
    """
    lines = output.rstrip().splitlines()
    if not any(line.strip() for line in lines):
        return ""
    folded: list[str] = []
    for _, run in groupby(lines, key=lambda line: _NUMBER.sub("#", line)):
        folded += _fold(list(run))
    count = "" if len(lines) == 1 else f" {len(lines):,} lines"
    return f"It printed{count}:\n" + "\n".join(_head_and_tail(folded))


def _fold(run: list[str]) -> list[str]:
    first, last = _shown(run[0]), _shown(run[-1])
    if len(run) == 1:
        return [f"  {first}"]
    if len(set(run)) == 1:
        return [f"  {first}  (x {len(run):,})"]
    if len(run) == 2:
        return [f"  {first}", f"  {last}"]
    return [f"  {first}", f"    ... {len(run) - 1:,} more like it, the last: {last}"]


def _shown(line: str) -> str:
    line = line.rstrip().expandtabs(4)
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]} ..."


def _head_and_tail(lines: list[str]) -> list[str]:
    """As many lines of both ends as there is room for."""
    if sum(len(line) + 1 for line in lines) <= _MAX_CHARS:
        return lines
    head: list[str] = []
    tail: list[str] = []
    room, start, end = _MAX_CHARS, 0, len(lines)
    while start < end:
        takes_head = len(head) <= len(tail)
        line = lines[start] if takes_head else lines[end - 1]
        room -= len(line) + 1
        if room < 0:
            break
        if takes_head:
            head.append(line)
            start += 1
        else:
            tail.append(line)
            end -= 1
    left = end - start
    return (
        [*head, f"  [... {left:,} lines cut ...]", *reversed(tail)]
        if left
        else [*head, *reversed(tail)]
    )
