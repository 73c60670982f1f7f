"""Tensors with walls: what lies beside a tensor is known, so that reading or writing there shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor

__all__ = ["GuardedMemory"]

_WALL_BYTES: Final = 64 << 10


class GuardedMemory:
    """Where a submission's tensors lie.

    Args:
        shows: Whether walls and unwritten memory hold NaN, and writing to a wall is told. Where
            not, both hold ordinary numbers, as on a GPU whose memory was used before.
    """

    def __init__(self, *, shows: bool) -> None:
        # Of any floating dtype: NaN, something huge or NaN, and a number near 0.05 or 1. Two of them, so
        # that a NaN that was read from the wall of an input shows where it is written to another.
        self._inside, self._outside = (0xFF, 0xFE) if shows else (0x3D, 0x3D)
        self._shows = shows
        self._empty = torch.empty
        self._wholes: list[tuple[Tensor, int, int]] = []

    def hold(self, value: Any) -> Any:
        """A copy between walls of what is a tensor."""
        if not isinstance(value, Tensor):
            return value
        held = self._make(tuple(value.shape), value.dtype, wall=self._inside)
        held.copy_(value)
        return held

    @contextmanager
    def instead_of_torchs(self) -> Iterator[None]:
        """Lay what `torch.empty` and `torch.empty_like` make between walls, too."""
        empty, empty_like = torch.empty, torch.empty_like

        def make(*size: Any, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
            shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
            return self._make(tuple(shape), dtype or torch.float32)

        def make_like(like: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
            return self._make(tuple(like.shape), dtype or like.dtype)

        torch.empty, torch.empty_like = make, make_like  # type: ignore[assignment]
        try:
            yield
        finally:
            torch.empty, torch.empty_like = empty, empty_like

    def was_left(self) -> bool:
        """Whether something was written to a wall; forgets all tensors."""
        wholes, self._wholes = self._wholes, []
        return self._shows and any(
            bool((wall != byte).any())
            for whole, num_bytes, byte in wholes
            for wall in (whole[:_WALL_BYTES], whole[_WALL_BYTES + num_bytes :])
        )

    def _make(self, shape: tuple[int, ...], dtype: torch.dtype, wall: int | None = None) -> Tensor:
        num_bytes = torch.Size(shape).numel() * dtype.itemsize
        whole = self._empty(num_bytes + 2 * _WALL_BYTES, dtype=torch.uint8)
        byte = self._outside if wall is None else wall
        whole.fill_(byte)
        inside = whole[_WALL_BYTES : _WALL_BYTES + num_bytes]
        if byte != self._inside:
            inside.fill_(self._inside)
        self._wholes.append((whole, num_bytes, byte))
        return inside.view(dtype).view(shape)
