"""Text in few characters: what repeats is folded, what is too long loses its middle.

Covered: runs of equal lines and of equal groups of lines, one answer given twice, a bound on the
length. Folding loses nothing, since it says how often; cutting says how much is gone. Not covered:
lines that differ in a number only; who writes them folds them.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MIN_CHARS", "cut", "fold", "shorten_repeated"]

MIN_CHARS = 200
"""The shortest useful bound: room for the notice of a cut between a head and a tail."""

_MAX_GROUP = 12
"""Longer groups of lines are not looked for."""
_MIN_REPEATS = 3
_MIN_SAVED = 120
"""What saves fewer characters stays as it is: a notice in the middle of a text costs attention too,
and source code has short runs of its own."""

_REPEATED_CHARS = 800
"""How much of an answer is shown that was given before."""


def fold(text: str) -> str:
    r"""The text with each long run of equal lines, or of equal groups of lines, told once.

    >>> print(fold("start\n" + "reading past the end of x\n" * 500 + "end"))
    start
    reading past the end of x
    [the line above 499 times more]
    end
    """
    lines = text.split("\n")
    told: list[str] = []
    at = 0
    while at < len(lines):
        size, repeats = _longest_run(lines, at)
        told += lines[at : at + size]
        if repeats > 1:
            what = "line" if size == 1 else f"{size} lines"
            told.append(f"[the {what} above {repeats - 1:,} times more]")
        at += size * repeats
    return "\n".join(told)


def cut(text: str, max_chars: int) -> str:
    r"""At most `max_chars` characters: head and tail, and between them how much is missing.

    A conclusion stands at the head, the next step at the tail; both survive. Lines stay whole
    where they are not longer than half of the head or the tail.

    >>> print(cut("\n".join(f"{i}: {'x' * 40}" for i in range(100, 120)), 200))
    100: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    [... 18 lines, 829 characters cut ...]
    119: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    """
    max_chars = max(max_chars, MIN_CHARS)
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_notice(text)) - 2
    start = _line_end(text, (room + 1) // 2)
    stop = _line_start(text, len(text) - room // 2)
    return f"{text[:start]}\n{_notice(text[start:stop])}\n{text[stop:]}"


def shorten_repeated(answer: str, earlier: Sequence[str]) -> str:
    """The answer; where it was given before and is long, its conclusion and how long ago that was.

    Args:
        answer: What is about to be told.
        earlier: What was told on the last turns, the latest last; more may stand around an answer.
    """
    if len(answer) <= _REPEATED_CHARS:
        return answer
    answer = fold(answer)
    for turns_ago, text in enumerate(reversed(earlier), start=1):
        if answer in text:
            when = "the last turn" if turns_ago == 1 else f"{turns_ago} turns ago"
            return f"The same answer as {when}, word for word:\n{cut(answer, _REPEATED_CHARS)}"
    return answer


def _longest_run(lines: list[str], at: int) -> tuple[int, int]:
    """Size and count of the equal groups that begin here and save the most; (1, 1) for none."""
    best, most = (1, 1), _MIN_SAVED - 1
    if lines[at] not in lines[at + 1 : at + 1 + _MAX_GROUP]:
        return best
    for size in range(1, min(_MAX_GROUP, (len(lines) - at) // _MIN_REPEATS) + 1):
        repeats = _repeats(lines, at, size)
        saved = (repeats - 1) * sum(len(line) + 1 for line in lines[at : at + size])
        if repeats >= _MIN_REPEATS and saved > most:
            best, most = (size, repeats), saved
    return best


def _repeats(lines: list[str], at: int, size: int) -> int:
    """How often the group of lines that begins here stands in a row."""
    end = at + size
    while end < len(lines) and lines[end] == lines[end - size]:
        end += 1
    return (end - at) // size


def _notice(missing: str) -> str:
    """What stands for the missing text."""
    if "\n" not in missing:
        return f"[... {len(missing):,} characters cut ...]"
    num_lines = missing.removeprefix("\n").removesuffix("\n").count("\n") + 1
    lines = "line" if num_lines == 1 else "lines"
    return f"[... {num_lines:,} {lines}, {len(missing):,} characters cut ...]"


def _line_end(text: str, at: int) -> int:
    """The last end of a line up to there; there, where that would lose more than half."""
    end = at if text[at : at + 1] == "\n" else text.rfind("\n", 0, at)
    return end if end >= at // 2 else at


def _line_start(text: str, at: int) -> int:
    """The first start of a line from there on; there, where that would lose more than half."""
    start = at if text[at - 1 : at] == "\n" else text.find("\n", at) + 1
    return start if 0 < start <= at + (len(text) - at) // 2 else at
