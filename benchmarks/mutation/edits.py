"""A mutant: one right kernel with one place of its CUDA source changed."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from enum import Enum, unique
from typing import Any

__all__ = ["Edit", "FaultKind", "Mutant", "apply_edit"]


@unique
class FaultKind(Enum):
    """What sort of fault an operator makes."""

    LOGIC = "logic"
    """A wrong value, a wrong place, or a place left out."""
    PRECISION = "precision"
    """The right value with fewer digits than the task's dtype has."""
    MEMORY = "memory"
    """Threads that do not wait for each other, or memory that nobody wrote."""


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What one operator does at one place."""

    operator: str
    start: int
    """Offset of the first character that goes."""
    end: int
    """Offset behind the last one."""
    text: str
    """What comes instead."""
    head: str = ""
    """What has to stand before the first line of the file."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A right kernel with one fault."""

    kernel: str
    """The right kernel: `core/softmax`, or `core/softmax by blocks`."""
    operator: str
    kind: FaultKind
    path: str
    """The file that was changed."""
    line: int
    """Of the change, in the right kernel."""
    before: str
    """That line, as it was."""
    after: str
    """The same line, as it is."""
    text: str
    """The whole file with the fault."""
    is_fault_by_construction: bool = False
    """Whether it is a fault even where no output shows it on this device: a race, an unwritten sum."""

    @property
    def id(self) -> str:
        """The same for the same fault in the same kernel, whatever else changes."""
        parts = (self.kernel, self.operator, self.path, self.text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def as_plain(self) -> dict[str, Any]:
        """What JSON can hold of it, which is all."""
        return {**asdict(self), "kind": self.kind.value}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Mutant:
        """The mutant that `as_plain` was asked for."""
        return cls(**{**plain, "kind": FaultKind(plain["kind"])})


def apply_edit(text: str, edit: Edit) -> str:
    """The text with one edit; what is replaced keeps its line breaks out of the way of lines told."""
    return edit.head + text[: edit.start] + edit.text + text[edit.end :]
