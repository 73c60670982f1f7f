"""Large tensors in pieces, so that what is computed from them never needs their own size again.

Elements are taken in memory order. They belong to groups of equal width, as rows do; a piece holds
whole groups, or a part of one group where that is too large itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

__all__ = ["Piece", "most_elements", "pieces_of"]

_MOST_ON_CPU: Final = 2**17
"""So that the operators, one after the other, find a piece in the cache."""
_MOST: Final = 2**24
"""128 MB in float64: large enough for a GPU, and several of them are small beside an output."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Some elements of a flat tensor, and the groups that they belong to."""

    elements: slice
    groups: slice

    def of(self, flat: Tensor) -> Tensor:
        """The elements as a matrix of (a part of) one group a row; a view."""
        return flat[self.elements].view(self.groups.stop - self.groups.start, -1)


def pieces_of(num_elements: int, width: int, most: int) -> Iterator[Piece]:
    """Cut a tensor of so many elements; the width of a group divides their number.

    Args:
        num_elements: Of the whole.
        width: Of a group.
        most: Elements in a piece.

    >>> [piece.elements for piece in pieces_of(12, 2, 8)]
    [slice(0, 8, None), slice(8, 12, None)]
    >>> [(piece.elements, piece.groups.start) for piece in pieces_of(6, 3, 2)][:2]
    [(slice(0, 2, None), 0), (slice(2, 3, None), 0)]
    """
    if width <= most:
        step = most // width
        for first in range(0, num_elements // width, step):
            last = min(first + step, num_elements // width)
            elements = slice(first * width, last * width)
            yield Piece(elements=elements, groups=slice(first, last))
        return
    for group in range(num_elements // width):
        end = (group + 1) * width
        for start in range(group * width, end, most):
            elements = slice(start, min(start + most, end))
            yield Piece(elements=elements, groups=slice(group, group + 1))


def most_elements(device: torch.device) -> int:
    """How many elements a piece may have where they lie on a device."""
    return _MOST_ON_CPU if device.type == "cpu" else _MOST
