"""A finding of the checking build, as a human reads it: what, which memory, and the lines of both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from rich.text import Text

from cuda_gym.core.findings import MemoryFinding, MemorySide

__all__ = ["finding_lines", "summary"]

_LONGEST_LINE = 90


def finding_lines(finding: MemoryFinding) -> Iterator[Text]:
    """One line for the whole, two for each side, and an empty one."""
    where = f" in kernel {finding.kernel}" if finding.kernel else ""
    yield Text.assemble((finding.kind, "bold red"), f"{where}: {finding.text}")
    for side in finding.sides:
        yield Text(f"  {_place(side)}: {_who(side)} {side.does}")
        if source := _source(side.file, side.line):
            yield Text(f"    {source}", style="dim")
    yield Text()


def summary(findings: Sequence[MemoryFinding], *, status: int = 0) -> Text:
    """The last line, of a program that ended with a status.

    >>> summary([]).plain
    'No race, no stray access: the memory check found nothing.'
    >>> summary([], status=3).plain
    'No race, no stray access: the memory check found nothing. But the program ended with status 3.'
    """
    if not findings and status:
        nothing = summary(()).plain
        return Text(f"{nothing} But the program ended with status {status}.", style="yellow")
    if not findings:
        return Text("No race, no stray access: the memory check found nothing.", style="green")
    kinds = list(dict.fromkeys(finding.kind for finding in findings))
    return Text(f"{len(findings)} found: {', '.join(kinds)}.", style="bold red")


def _place(side: MemorySide) -> str:
    if side.file is None:
        return "at an unknown line"
    path = Path(side.file)
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{shown}:{side.line}"


def _who(side: MemorySide) -> str:
    if side.thread is None or side.block is None:
        return "host code"
    return f"thread {_index(side.thread)} of block {_index(side.block)}"


def _index(index: tuple[int, int, int]) -> str:
    return f"({','.join(map(str, index))})"


def _source(file: str | None, line: int | None) -> str:
    """The line itself, if it can be read."""
    if file is None or line is None:
        return ""
    lines = _lines(file)
    text = lines[line - 1].strip() if line <= len(lines) else ""
    return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 3]}..."


@lru_cache
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()
