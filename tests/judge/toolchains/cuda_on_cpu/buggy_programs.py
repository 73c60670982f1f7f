"""What must be found in the programs of `tests/cuda_programs/buggy`, read from their first lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cuda_gym.judge.toolchains.cuda_on_cpu.checking import KINDS

PROGRAMS = Path(__file__).parents[3] / "cuda_programs" / "buggy"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.cu"))
_FIRST_LINE = re.compile(
    rf"// finds: (?P<kind>{'|'.join(KINDS)})"
    r"(?P<access> read| write)?(?: (?:in|of) (?P<memory>shared|global|local) memory)?"
    r", lines? (?P<lines>\d+(?:(?:, | and )\d+)*)"
)


@dataclass(frozen=True)
class Expected:
    """The one bug of a program."""

    kind: str
    access: str | None
    """`read` or `write`, of an access out of bounds."""
    memory: str | None
    """`shared`, `global` or `local`, where that matters."""
    lines: frozenset[int]
    """Every line on which a side of a finding may be; a race on one line has both sides there."""


def expected_finding(name: str) -> Expected:
    """Read the first line of a program.

    Raises:
        ValueError: it is not of the form `// finds: KIND [read|write] [in MEMORY memory], lines N and M`.
    """
    first_line = (PROGRAMS / f"{name}.cu").read_text().partition("\n")[0]
    match = _FIRST_LINE.fullmatch(first_line)
    if match is None:
        raise ValueError(f"{name}.cu begins with {first_line!r}, which says nothing to find")
    return Expected(
        kind=match["kind"],
        access=match["access"] and match["access"].strip(),
        memory=match["memory"],
        lines=frozenset(map(int, re.findall(r"\d+", match["lines"]))),
    )
