"""Tables of Nsight Compute as numbers in base units: seconds, bytes, percent.

    wide   `--page raw`: a row a launch, a column a metric, units in the second row
    long   any other page: a row a metric, with its unit

Covered: what the tool says before and behind the table, thousands with commas, names with the types
of parameters. A cell that is no number, `n/a` for one, is left out.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Launch", "read_launches"]

_MOST_CHARS = 4 << 20
_UNITS = {
    "nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3,
    "second": 1.0, "s": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9,
}  # fmt: skip
_CAST = re.compile(r"\((?:unsigned )?[a-z]+(?: [a-z]+)?\)(?=-?\d)")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One launch of a kernel."""

    kernel: str
    """As the source calls it, without parameters."""
    metrics: dict[str, float] = field(default_factory=dict)


def read_launches(text: str) -> Iterator[Launch]:
    """The launches of a table, in their order; none where there is no table."""
    lines = [line for line in text[:_MOST_CHARS].splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if not rows or "Kernel Name" not in rows[0]:
        return
    if "Metric Name" in rows[0]:
        yield from _long(rows[0], rows[1:])
    else:
        yield from _wide(rows[0], rows[1:])


def _wide(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Launch]:
    units = rows[0] if rows and not rows[0][0] else [""] * len(header)
    for row in rows[1:] if rows and not rows[0][0] else rows:
        if len(row) != len(header):
            continue
        cells = dict(zip(header, row, strict=True))
        metrics = {
            name: value
            for name, unit, cell in zip(header, units, row, strict=False)
            if "__" in name and (value := _number(cell, unit)) is not None
        }
        yield Launch(kernel=_plain_name(cells["Kernel Name"]), metrics=metrics)


def _long(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Launch]:
    launches: dict[str, Launch] = {}
    for row in rows:
        if len(row) < len(header) - 5:  # the columns of rules are often left out
            continue
        cells = dict(zip(header, row, strict=False))
        launch = launches.setdefault(
            cells.get("ID", ""), Launch(kernel=_plain_name(cells["Kernel Name"]))
        )
        value = _number(cells.get("Metric Value", ""), cells.get("Metric Unit", ""))
        if value is not None:
            launch.metrics[cells.get("Metric Name", "")] = value
    yield from launches.values()


def _number(cell: str, unit: str) -> float | None:
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        return None
    return value * _UNITS.get(unit, 1.0) if math.isfinite(value) else None


def _plain_name(name: str) -> str:
    """`tiles<128>` of `void tiles<(int)128>(float *, int)`."""
    name = _CAST.sub("", name.removeprefix("void "))
    depth = 0
    for place, letter in enumerate(name):
        depth += (letter in "<") - (letter in ">")
        if letter == "(" and depth == 0 and not name.startswith("(anonymous", place):
            return name[:place]
    return name
