"""How far off the elements of an output are, over what is allowed; element by element, in pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.slices import Piece

__all__ = ["Ratios", "quick_ratio"]


def quick_ratio(got: Tensor, want: Expected, most: int | None = None) -> float:
    """The largest error over what is allowed; NaN wherever a closer look is needed."""
    if not got.numel():
        return 0.0
    if want.least_allowed is None:
        is_right = torch.equal(got, want.value) or _equals_close_calls(got, want)
        return 0.0 if is_right else math.nan
    ours, theirs = got.flatten(), want.value.flatten()
    worst = []
    for piece in want.pieces(most):
        values = piece.of(theirs)
        error = (piece.of(ours) - values).abs_()
        worst.append(error.div_(want.allowed(piece, values)).max())
    return float(worst[0] if len(worst) == 1 else torch.stack(worst).max())


def _equals_close_calls(got: Tensor, want: Expected) -> bool:
    """Where only equality passes: whether what is not equal is the other number of a close call."""
    if want.close is None:
        return False
    alike = (got == want.value) | (got == want.close.beside(want.value, 0))
    return bool(alike.all())


@dataclass(frozen=True, kw_only=True)
class Ratios:
    """Error over what is allowed; infinite where the sort of number differs. What is worth keeping."""

    wrong: Tensor
    """Which elements are wrong, in the output's own shape."""
    count: int
    """How many are."""
    first: int
    """The flat position of the first that is wrong."""
    worst: int
    """That of the largest ratio."""
    largest: float

    @classmethod
    def of(cls, got: Tensor, want: Expected, most: int | None = None) -> Ratios:
        """Look at every element, at most so many at a time."""
        ours, theirs = got.flatten(), want.value.flatten()
        wrong = torch.empty(ours.numel(), dtype=torch.bool, device=got.device)
        largest, worst = -1.0, 0
        for piece in want.pieces(most):
            ratios = _ratios_of(piece, ours, theirs, want).flatten()
            torch.gt(ratios, 1.0, out=wrong[piece.elements])
            place = int(ratios.argmax())
            if (ratio := float(ratios[place])) > largest:
                largest, worst = ratio, piece.elements.start + place
        return cls(
            wrong=wrong.view(got.shape),
            count=int(wrong.sum()),
            first=int(wrong.view(torch.int8).argmax()),
            worst=worst,
            largest=largest,
        )


def _ratios_of(piece: Piece, ours: Tensor, theirs: Tensor, want: Expected) -> Tensor:
    got, value = piece.of(ours), piece.of(theirs)
    if want.least_allowed is None:
        alike = (got == value) | (got.isnan() & value.isnan())
        if want.close is not None:
            alike |= got == want.close.beside(value, piece.elements.start)
        return torch.where(alike, 0.0, math.inf)
    got, value = got.to(want.least_allowed.dtype), value.to(want.least_allowed.dtype)
    alike = (got == value) | (got.isnan() & value.isnan())
    ratios = (got - value).abs_().div_(want.allowed(piece, value))
    ratios = torch.where(got.isfinite() & value.isfinite(), ratios, math.inf)
    return torch.where(alike, 0.0, ratios)
