"""What a log of the device's lock tells: whether anybody else had the device while one timed on it.

A line is `{"pid": 1, "mode": "exclusive", "start_ns": 5, "end_ns": 9}`, of one clock for all processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Held", "overlaps", "read_log"]


@dataclass(frozen=True, kw_only=True)
class Held:
    """Once that a process held the lock."""

    pid: int
    mode: str
    """`shared` or `exclusive`."""
    start_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        """How long."""
        return (self.end_ns - self.start_ns) / 1e9


def read_log(folder: Path) -> list[Held]:
    """All lines of all files of a folder."""
    texts = [path.read_text("utf-8") for path in sorted(folder.iterdir())]
    lines = [json.loads(line) for text in texts for line in text.splitlines() if line.strip()]
    return [Held(**{key: line[key] for key in Held.__dataclass_fields__}) for line in lines]


def overlaps(log: Iterable[Held]) -> Sequence[tuple[Held, Held]]:
    """Each time that somebody had the lock while another had it exclusively, with whom.

    >>> times = [("exclusive", 0, 4), ("shared", 4, 9), ("shared", 5, 8), ("exclusive", 8, 10)]
    >>> log = [Held(pid=1, mode=mode, start_ns=a, end_ns=b) for mode, a, b in times]
    >>> [(one.start_ns, other.start_ns) for one, other in overlaps(log)]
    [(4, 8)]
    """
    found = []
    last: Held | None = None
    last_exclusive: Held | None = None
    for held in sorted(log, key=lambda held: held.start_ns):
        before = last if held.mode == "exclusive" else last_exclusive
        if before is not None and held.start_ns < before.end_ns:
            found.append((before, held))
        if last is None or held.end_ns > last.end_ns:
            last = held
        if held.mode == "exclusive" and (
            last_exclusive is None or held.end_ns > last_exclusive.end_ns
        ):
            last_exclusive = held
    return found
