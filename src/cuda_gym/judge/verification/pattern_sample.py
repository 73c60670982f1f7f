"""The wrong elements of an output, as many as are worth looking at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

__all__ = ["SHARE", "Wrong", "are_close", "mostly", "spread"]

SHARE: Final = 0.95
"""A pattern is claimed where it holds for this share of the wrong elements."""
SAMPLE: Final = 1 << 14
"""How many elements are looked at, evenly spaced."""


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """An output with wrong elements, and a sample of these."""

    got: Tensor
    """What came, whole."""
    want: Tensor
    """What was expected, whole."""
    positions: Tensor
    """Flat positions of the sample, ascending."""
    ours: Tensor
    """What came there, in float64."""
    theirs: Tensor
    """What was expected there, in float64."""
    right: Tensor
    """Flat positions of elements that are right."""

    @classmethod
    def of(cls, got: Tensor, want: Tensor, wrong: Tensor) -> Wrong:
        """Sample the wrong elements, those that came as NaN left aside unless there are no others.

        Args:
            got: The output, in its own shape.
            want: What was expected, in the same shape.
            wrong: Which elements are wrong.
        """
        flat = wrong.flatten()
        is_nan = got.isnan().flatten() & flat if got.is_floating_point() else flat & False
        numbers = flat & ~is_nan
        positions = spread((numbers if bool(numbers.any()) else flat).nonzero().flatten())
        everywhere = torch.arange(0, flat.numel(), max(1, flat.numel() // (4 * SAMPLE)))
        return cls(
            got=got,
            want=want,
            positions=positions,
            ours=_at(got, positions),
            theirs=_at(want, positions),
            right=spread(everywhere[~flat[everywhere]]),
        )

    def index(self) -> tuple[Tensor, ...]:
        """The index of the sample in each dimension."""
        return torch.unravel_index(self.positions, self.want.shape)


def mostly(mask: Tensor) -> bool:
    """Whether so large a share holds that it may be claimed of all."""
    return bool(mask.numel()) and bool(mask.double().mean() >= SHARE)


def are_close(ours: Tensor, theirs: Tensor, tolerance: float = 1e-5) -> Tensor:
    """Which are equal but for rounding."""
    return (ours - theirs).abs() <= tolerance * theirs.abs()


def spread(positions: Tensor) -> Tensor:
    """So many of them that it is a sample, evenly spaced.

    The step has no factor in common with the usual widths: it would see the same columns again and again.
    """
    step = len(positions) // SAMPLE + 1
    if step > 1:
        step = next(n for n in range(step, step + 30) if all(n % prime for prime in (2, 3, 5)))
    return positions[::step]


def _at(tensor: Tensor, positions: Tensor) -> Tensor:
    return tensor.flatten()[positions].to(torch.float64)
