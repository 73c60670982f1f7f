"""The largest and the smallest elements of a tensor, moved to its edges.

A kernel that leaves out the last column of a row and looks for the largest element is right in all
rows but those whose largest element is just there: one in as many as there are columns.

Covered: half of the lines along every dimension, at most some thousands. Not covered: tensors whose
order means something, which stay as they are: symmetric and sparse ones, sorted lines, and matrices
with a heavy diagonal.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from cuda_gym.judge.verification.structure import has_structural_zeros, is_symmetric

__all__ = ["extremes_at_edges"]

_SHORT: Final = 8
"""Extremes of shorter lines lie at an edge often enough by chance."""
_MOST_LINES: Final = 4096


def extremes_at_edges(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """The same elements, in every second line the largest or the smallest one first or last.

    >>> x = torch.tensor([3.0, 5.0, 9.0, 8.0, 2.0, 4.0, 7.0, 6.0])
    >>> extremes_at_edges(x, torch.Generator().manual_seed(0)).tolist()
    [2.0, 5.0, 9.0, 8.0, 3.0, 4.0, 7.0, 6.0]
    """
    if is_symmetric(tensor) or has_structural_zeros(tensor) or _has_heavy_diagonal(tensor):
        return tensor
    result = tensor.clone()
    for dimension in range(tensor.ndim):
        if tensor.shape[dimension] >= _SHORT:
            _move(result[None].movedim(dimension + 1, -1), generator)
    return result


def _move(lines: Tensor, generator: torch.Generator) -> None:
    """Exchange elements within some of the lines, which are the last dimension of a view."""
    size, count = lines.shape[-1], lines.numel() // lines.shape[-1]
    most = max(1, min(count // 2, _MOST_LINES))
    chosen = torch.unique(torch.randint(0, count, (most,), generator=generator))
    kinds = torch.randint(0, 4, chosen.shape, generator=generator).to(lines.device)[:, None]
    place = torch.unravel_index(chosen.to(lines.device), lines.shape[:-1])
    held = lines[place]
    steps = held.diff(dim=1)
    is_sorted = (steps >= 0).all(dim=1, keepdim=True) | (steps <= 0).all(dim=1, keepdim=True)
    largest, smallest = held.argmax(dim=1, keepdim=True), held.argmin(dim=1, keepdim=True)
    source = torch.where(kinds % 2 == 0, largest, smallest)
    target = torch.where(kinds < 2, size - 1, 0)
    target = torch.where(is_sorted, source, target)
    first, second = held.gather(1, source), held.gather(1, target)
    lines[place] = held.scatter(1, target, first).scatter(1, source, second)


def _has_heavy_diagonal(tensor: Tensor) -> bool:
    """Whether the largest element of most rows of a square matrix lies on its diagonal."""
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        return False
    matrix = tensor.reshape(-1, *tensor.shape[-2:])[0]
    places = torch.arange(matrix.shape[0], device=matrix.device)
    return int((matrix.abs().argmax(dim=1) == places).sum()) * 2 > matrix.shape[0]
