"""What was measured of each mutant: one line of JSON, appended when it is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.mutation.edits import FaultKind, Mutant

__all__ = ["Record", "append", "read_records"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One mutant, and who let it pass."""

    id: str
    kernel: str
    operator: str
    kind: str
    path: str
    line: int
    before: str
    after: str
    is_fault_by_construction: bool = False
    why_not: str | None = None
    """Why it was not measured: it does not compile."""
    ours: str | None = None
    """The outcome of our judge."""
    fact: str | None = None
    """What our judge says of it, in one sentence."""
    kernelbench: bool | None = None
    """Whether the rule of KernelBench lets it pass."""
    cuda_agent: bool | None = None
    """Whether the rule of CUDA Agent lets it pass."""
    equivalent: bool | None = None
    """Whether the oracle sees no difference to the right kernel."""
    draws: int | None = None
    """How many draws the oracle made."""
    where: str | None = None
    """Where the oracle saw a difference, or how alike the two are."""
    judge: str | None = None
    """The version of our judge."""

    @classmethod
    def of(cls, mutant: Mutant, **found: Any) -> Record:
        """The record of a mutant."""
        return cls(
            id=mutant.id,
            kernel=mutant.kernel,
            operator=mutant.operator,
            kind=mutant.kind.value,
            path=mutant.path,
            line=mutant.line,
            before=mutant.before,
            after=mutant.after,
            is_fault_by_construction=mutant.is_fault_by_construction,
            **found,
        )

    @property
    def is_measured(self) -> bool:
        """Whether all three rules have said something."""
        return self.why_not is None and self.ours is not None

    @property
    def is_excluded(self) -> bool:
        """Whether it is no fault: equivalent, and not a fault by construction."""
        return bool(self.equivalent) and not self.is_fault_by_construction

    @property
    def is_of_precision(self) -> bool:
        """Whether what is wrong with it is lost digits."""
        return self.kind == FaultKind.PRECISION.value

    @property
    def passed_ours(self) -> bool:
        """Whether our judge let it pass."""
        return self.ours == "correct"


def read_records(path: Path) -> dict[str, Record]:
    """All records by the id of the mutant; of two with one id the later. A torn last line is left out."""
    found: dict[str, Record] = {}
    if not path.is_file():
        return found
    for line in path.read_text("utf-8").splitlines():
        try:
            record = Record(**json.loads(line))
        except (ValueError, TypeError):
            continue
        found[record.id] = record
    return found


def append(path: Path, record: Record) -> None:
    """Write one more record, on a line of its own even behind a torn one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({k: v for k, v in asdict(record).items() if v is not None})
    is_torn = path.is_file() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if is_torn else "") + text + "\n")
