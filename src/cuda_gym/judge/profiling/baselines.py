"""What eager PyTorch and torch.compile take, remembered between runs.

Only the ratio of the two is used again, and about how long a call takes: every comparison times
torch.compile anew, in turns with the submission. So a stale entry costs accuracy of the eager
column, never of a speed-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """The two reference times of one task on one device."""

    eager_us: float
    compile_us: float

    @property
    def eager_over_compile(self) -> float:
        """How much slower eager is."""
        return self.eager_us / self.compile_us

    @classmethod
    def from_plain(cls, plain: Mapping[str, object] | None) -> Baseline | None:
        """Read what was remembered; None where that cannot be used."""
        try:
            values = {f.name: float(str((plain or {})[f.name])) for f in fields(cls)}
        except (KeyError, ValueError):
            return None
        return cls(**values) if min(values.values()) > 0 else None
