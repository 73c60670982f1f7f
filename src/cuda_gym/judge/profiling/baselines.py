"""What eager PyTorch and torch.compile take, remembered between runs.

Only the ratio of the two is used again, and about how long a call takes: every comparison times
torch.compile anew, in turns with the submission. So a stale entry costs accuracy of the eager
column, never of a speed-up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

__all__ = ["Baseline", "measured"]

_LEAST, _MOST = 3, 10
_SELDOM = 2.0
"""Torch.compile over eager: beyond this it was disturbed, most likely."""


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

    def or_better(self, other: Baseline) -> Baseline:
        """The best of either."""
        return Baseline(
            eager_us=min(self.eager_us, other.eager_us),
            compile_us=min(self.compile_us, other.compile_us),
        )


def measured(measure: Callable[[int], Baseline]) -> Baseline:
    """The best of a few measurements; of more where torch.compile seems to be much slower than eager.

    It starts threads where eager may run on one, so a busy machine slows it far more (seen: 956 us beside 22), and
    who is timed against that would be paid for it.

    Args:
        measure: Once, by its number.

    >>> times = iter([900.0, 800.0, 950.0, 30.0, 20.0])
    >>> measured(lambda number: Baseline(eager_us=22.0, compile_us=next(times))).compile_us
    30.0
    """
    best = measure(0)
    for number in range(1, _MOST):
        if number >= _LEAST and best.compile_us <= _SELDOM * best.eager_us:
            break
        best = best.or_better(measure(number))
    return best
