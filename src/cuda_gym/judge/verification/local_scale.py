"""The local scale of an output: how large are the numbers around an element?

An element's scale is the root mean square of its group, which is its row or a few short ones, or its
own size where that is larger. Kept is one number a group; the size of an element is at hand anyway.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from cuda_gym.judge.verification.slices import most_elements, pieces_of

__all__ = ["finite_size", "group_scales", "group_width"]

_MIN_GROUP: Final = 32
"""A row of fewer elements says little about a scale: rows are joined until there are so many."""
_MASKED: Final = 16.0
"""In a spiky draw, elements this many times the typical size do not count for the scale."""


def group_width(tensor: Tensor) -> int:
    """The last dimension, joined with those before it until there are at least 32 elements."""
    width = 1
    for size in reversed(tensor.shape):
        width *= size
        if width >= _MIN_GROUP:
            return width
    return max(1, tensor.numel())


def finite_size(values: Tensor) -> Tensor:
    """The size of each number; 0 for NaN and infinities, which have none."""
    return torch.where(values.isfinite(), values, 0.0).abs_()


def group_scales(best: Tensor, *, masked: bool, most: int | None = None) -> Tensor:
    """For each group the root mean square of its elements, in float64.

    A group that is mostly zeros, as after a ReLU, does not say how large the numbers were from which
    its few others were computed: there the typical group counts where it is larger.

    Args:
        best: What was expected.
        masked: Whether elements far larger than the typical one of their group are left aside.
        most: Elements that are looked at at once; what suits the device where it is None.
    """
    width, flat = group_width(best), best.flatten()
    most = most or most_elements(best.device)
    square, filled = _square_and_filled(flat, width, most)
    if masked:
        square = _masked_square(flat, width, most)
    sparse = filled * 2 < width
    if bool((sparse.any() & square.any()).item()):
        square = torch.where(sparse, square.clamp_min(_lower_median(square[square > 0])), square)
    return square.sqrt_()


def _square_and_filled(flat: Tensor, width: int, most: int) -> tuple[Tensor, Tensor]:
    """The mean square of each group, and how many of its elements are not 0."""
    square = _one_for_each_group(flat, width, torch.float64)
    filled = _one_for_each_group(flat, width, torch.int64)
    for piece in pieces_of(flat.numel(), width, most):
        rows = finite_size(piece.of(flat).to(torch.float64))
        square[piece.groups] += torch.linalg.vector_norm(rows, dim=1).square_()
        filled[piece.groups] += rows.count_nonzero(dim=1)
    return square.div_(width), filled


def _masked_square(flat: Tensor, width: int, most: int) -> Tensor:
    """The mean square of those elements of each group that are not far larger than most."""
    typical = _one_for_each_group(flat, width, torch.float64)
    for piece in pieces_of(flat.numel(), width, most):
        rows = finite_size(piece.of(flat).to(torch.float64))
        typical[piece.groups] += rows.sqrt_().sqrt_().sum(dim=1)
    largest = typical.div_(width).pow_(4).mul_(_MASKED)
    square = _one_for_each_group(flat, width, torch.float64)
    count = _one_for_each_group(flat, width, torch.int64)
    for piece in pieces_of(flat.numel(), width, most):
        rows = finite_size(piece.of(flat).to(torch.float64))
        is_small = rows <= largest[piece.groups, None]
        square[piece.groups] += torch.where(is_small, rows, 0.0).square_().sum(dim=1)
        count[piece.groups] += is_small.sum(dim=1)
    return square.div_(count.clamp_min_(1))


def _one_for_each_group(flat: Tensor, width: int, dtype: torch.dtype) -> Tensor:
    return torch.zeros(flat.numel() // width, dtype=dtype, device=flat.device)


def _lower_median(values: Tensor) -> Tensor:
    """As `median()`, which takes a single block of a GPU however many values there are."""
    if values.device.type == "cpu":
        return values.median()
    return values.sort().values[(len(values) - 1) // 2]
