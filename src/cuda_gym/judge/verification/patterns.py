"""What the wrong elements of an output have in common, in words that lead to the bug.

Only what holds for at least 95 % of the wrong elements is claimed; the first that fits is told.
Nothing here decides whether an output is right.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

__all__ = ["find_pattern"]

SHARE: Final = 0.95
"""A pattern is claimed where it holds for this share of the wrong elements."""
SAMPLE: Final = 1 << 14
"""How many wrong elements are looked at, evenly spaced."""


def find_pattern(got: Tensor, want: Tensor, wrong: Tensor) -> str | None:
    """Name what the wrong elements have in common; None where nothing is found.

    Args:
        got: The submission's output, floating, in its own shape.
        want: What was expected, in the same shape and dtype.
        wrong: Boolean, in the same shape: which elements are wrong.
    """
    positions = wrong.flatten().nonzero().flatten()
    if not len(positions):
        return None
    if len(positions) > SAMPLE:
        positions = positions[:: len(positions) // SAMPLE + 1]
    ours, theirs = got.flatten()[positions], want.flatten()[positions]
    what = _of_values(ours, theirs) or _of_moves(got, want, positions)
    where = _of_places(wrong, positions) if wrong.numel() > 1 else None
    return "; ".join(part for part in (what, where) if part) or None


def _of_values(got: Tensor, want: Tensor) -> str | None:
    """Zeros, NaN, close ones, one factor, one difference, one value."""
    if _mostly(got.isnan()):
        return "they are NaN: never written (memory starts as NaN), or computed from NaN"
    if _mostly(got == 0):
        return "they are 0"
    if _mostly(got.isinf()):
        return "they are infinite: an overflow"
    finite = got.isfinite() & want.isfinite() & (want != 0)
    if not _mostly(finite) or int(finite.sum()) < 2:
        return None
    ratio = got[finite] / want[finite]
    factor = float(ratio.median())
    if _mostly((ratio - 1.0).abs() < 0.01):
        percent = 100.0 * float((ratio - 1.0).abs().median())
        return f"they are close, off by {percent:.2g} %: lower precision or an approximation"
    if _mostly((ratio - factor).abs() <= 1e-4 * abs(factor)):
        return f"they are {factor:.6g} times what they should be"
    difference = got[finite] - want[finite]
    shift = float(difference.median())
    if shift and _mostly((difference - shift).abs() <= 1e-3 * abs(shift)):
        return f"they are off by {shift:+.6g}, all of them"
    if _mostly(got[finite] == got[finite][0]):
        return f"they are all {float(got[finite][0]):.6g}"
    return None


def _of_moves(got: Tensor, want: Tensor, positions: Tensor) -> str | None:
    """Right values in the wrong places: shifted by one, transposed, reversed."""
    flat, count = want.flatten(), want.numel()
    ours = got.flatten()[positions]
    if len(positions) < 8:
        return None
    for step, word in ((1, "next"), (-1, "previous")):
        inside = (positions + step >= 0) & (positions + step < count)
        theirs = flat[(positions + step).clamp(0, count - 1)]
        if _mostly(_close(ours, theirs) & inside):
            return f"each has the value of the {word} element: an index is off by one"
    if want.ndim >= 2:
        rows, columns = want.shape[-2:]
        swapped = want.transpose(-1, -2).reshape(-1) if rows != columns else want.mT.flatten()
        if _mostly(_close(ours, swapped[positions])):
            return f"they hold the transposed output: the last two dimensions ({rows} and {columns}) are swapped"
    if _mostly(_close(ours, flat.flip(0)[positions])):
        return "they hold the output in reverse order"
    return None


def _of_places(wrong: Tensor, positions: Tensor) -> str | None:
    """A row, a column, a channel, a tail behind a tile border, every k-th element."""
    if bool(wrong.all()):
        return None
    if len(positions) == 1:
        return "only the very last element" if int(positions) == wrong.numel() - 1 else None
    count = int(wrong.sum())
    index = torch.unravel_index(positions, wrong.shape)
    for dim, (along, size) in enumerate(zip(index, wrong.shape, strict=True)):
        if size > 1:
            found = _along(along, size, count * size // wrong.numel())
            if found:
                return f"{found} (of {size}) in dimension {dim}"
    if wrong.ndim > 1:
        found = _every_kth(positions, wrong.numel(), count)
        return f"{found} (of {wrong.numel()}) in memory order" if found else None
    return None


def _along(along: Tensor, size: int, filled: int) -> str | None:
    """What the indices along one dimension have in common."""
    return _one_index(along, size) or _tail(along, size) or _every_kth(along, size, filled)


def _one_index(along: Tensor, size: int) -> str | None:
    value = int(along.bincount().argmax())
    if not _mostly(along == value):
        return None
    return "only the last index" if value == size - 1 else f"only index {value}"


def _tail(along: Tensor, size: int) -> str | None:
    """All behind a multiple of a usual tile width, up to the end."""
    first, last = int(along.min()), int(along.max())
    if not first or last != size - 1 or size - first > size // 2:
        return None
    tile = next((tile for tile in (256, 128, 64, 32, 16) if first % tile == 0), None)
    if tile is not None:
        return (
            f"only indices from {first} on, a multiple of {tile}: a tile, perhaps the partial one"
        )
    return f"only the last {size - first} indices"


def _every_kth(along: Tensor, size: int, filled: int) -> str | None:
    """The widest period that explains them, if at least half of what it names is wrong.

    Args:
        along: Indices of the wrong elements.
        size: How many indices there are.
        filled: How many indices the wrong elements would fill completely.
    """
    for period in (256, 128, 64, 32, 16, 8, 4, 3, 2):
        if period * 2 > size or filled * period < size // 2:
            continue
        rest = along % period
        value = int(rest.bincount().argmax())
        if _mostly(rest == value):
            return f"every {period}-th index, from {value} on"
    return None


def _close(ours: Tensor, theirs: Tensor) -> Tensor:
    return (ours - theirs).abs() <= 1e-5 * theirs.abs()


def _mostly(mask: Tensor) -> bool:
    return bool(mask.float().mean() >= SHARE)
