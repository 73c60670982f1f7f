"""The wrong elements of an output, as many as are worth looking at.

Samples lie on the CPU, wherever the output does: many small questions are asked of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from cuda_gym.judge.verification.slices import most_elements, pieces_of

__all__ = ["SHARE", "Wrong", "are_close", "elements_at", "mostly", "sample", "values_at"]

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
        positions = sample(numbers if bool(numbers.any()) else flat)
        everywhere = torch.arange(0, flat.numel(), max(1, flat.numel() // (4 * SAMPLE)))
        right = everywhere[~elements_at(flat, everywhere)]
        return cls(
            got=got,
            want=want,
            positions=positions,
            ours=values_at(got, positions),
            theirs=values_at(want, positions),
            right=right[:: _step(len(right))],
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


def sample(mask: Tensor, most: int | None = None) -> Tensor:
    """Flat positions where a mask holds, so many of them that it is a sample, evenly spaced.

    Args:
        mask: Boolean, of any shape.
        most: Elements that are looked at at once; what suits the device where it is None.
    """
    flat = mask.flatten()
    step, seen, found = _step(int(flat.sum())), 0, []
    for piece in pieces_of(flat.numel(), 1, most or most_elements(mask.device)):
        here = flat[piece.elements].nonzero().flatten()
        found.append((here[-seen % step :: step] + piece.elements.start).cpu())
        seen += len(here)
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.int64)


def elements_at(tensor: Tensor, positions: Tensor) -> Tensor:
    """The elements at flat positions, as they are."""
    where = positions.to(tensor.device)
    if tensor.is_contiguous():
        return tensor.flatten()[where].cpu()
    return tensor[torch.unravel_index(where, tensor.shape)].cpu()


def values_at(tensor: Tensor, positions: Tensor) -> Tensor:
    """The same in float64."""
    return elements_at(tensor, positions).to(torch.float64)


def _step(count: int) -> int:
    """Between the elements of a sample of so many.

    It has no factor in common with the usual widths: it would see the same columns again and again.
    """
    step = count // SAMPLE + 1
    if step == 1:
        return 1
    return next(n for n in range(step, step + 30) if all(n % prime for prime in (2, 3, 5)))
