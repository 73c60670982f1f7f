"""Where the wrong elements of an output are, in words: rows, columns, channels, tiles."""

from __future__ import annotations

import torch
from torch import Tensor

from cuda_gym.judge.verification.pattern_sample import SHARE, sample

__all__ = ["describe_places", "dimension_name", "plural_name"]

_NAMES = {
    1: ("element",),
    2: ("row", "column"),
    3: ("batch item", "row", "column"),
    4: ("batch item", "channel", "row", "column"),
    5: ("batch item", "channel", "slice", "row", "column"),
}
_TILES = (64, 32, 16, 8)
_PERIODS = (1024, 512, 256, 128, 64, 32, 16, 8, 4, 3, 2)
_FULL = 0.95
_SPARSE = 0.5
_MIN_A_INDEX = 8.0
"""Only where so many wrong elements are due at an index is it telling that it has none."""


def dimension_name(dim: int, ndim: int) -> str:
    """What one index of a dimension is called, by its place.

    >>> dimension_name(1, 4), dimension_name(3, 4), dimension_name(5, 6)
    ('channel', 'column', 'dimension-5 index')
    """
    names = _NAMES.get(ndim)
    return names[dim] if names else f"dimension-{dim} index"


def plural_name(dim: int, ndim: int) -> str:
    """What several indices of a dimension are called.

    >>> plural_name(1, 4), plural_name(5, 6)
    ('channels', 'dimension-5 indices')
    """
    return _plural(dimension_name(dim, ndim))


def describe_places(wrong: Tensor) -> str | None:
    """What the places of wrong elements have in common; None where nothing, or where all are wrong.

    Args:
        wrong: Which elements are wrong, in the output's own shape.
    """
    count = int(wrong.sum())
    if not count or count == wrong.numel() or wrong.ndim == 0:
        return None
    if count == 1:
        return _single(wrong)
    if wrong.ndim > 1 and (tail := _tail(wrong, count, is_flat=True)):
        return tail
    found = [along for dim in range(wrong.ndim) if (along := _along(wrong, dim, count))]
    share = count / wrong.numel()
    for _, kept in found:
        share /= kept
    said = " and ".join(said for said, _ in found[:3])
    if share >= _FULL and found:
        return said
    special = _triangle(wrong, count) or _tiles(wrong)
    if special or not found:
        return special or _tail(wrong, count, is_flat=False) or _period(wrong, count)
    if share < _SPARSE and (period := _period(wrong, count)):
        return period
    return f"{said}, {max(share, 0.01):.0%} of it"


def _single(wrong: Tensor) -> str | None:
    place = _first(wrong)
    if place == wrong.numel() - 1:
        return "only the very last element"
    return "only the very first element" if place == 0 else None


def _first(wrong: Tensor) -> int:
    """The flat position of the first that holds."""
    return int(wrong.flatten().view(torch.int8).argmax())


def _along(wrong: Tensor, dim: int, count: int) -> tuple[str, float] | None:
    """What the indices along one dimension have in common, and which share of all they are."""
    size = wrong.shape[dim]
    if size == 1:
        return None
    others = [other for other in range(wrong.ndim) if other != dim]
    counts = (wrong.sum(dim=others) if others else wrong.to(torch.int64)).cpu()
    is_hit = counts > 0.02 * counts.max()
    hit = is_hit.nonzero().flatten()
    if counts[is_hit].sum() < SHARE * count or len(hit) == size:
        return None
    name = dimension_name(dim, wrong.ndim)
    said = None if _is_all_but_an_end(hit, size) else _indices(hit, size, name)
    is_full = count >= _FULL * len(hit) * (wrong.numel() // size)
    if said is None and (count / size >= _MIN_A_INDEX or is_full):
        missed = (~is_hit).nonzero().flatten()
        # One index in the middle may be right by chance, where all are wrong by little.
        if len(missed) > 1 or _is_all_but_an_end(hit, size):
            rest = _indices(missed, size, name)
            said = None if rest is None else f"every {name} but {rest.removeprefix('only ')}"
    said = said or _indices(hit, size, name)
    return None if said is None else (said, len(hit) / size)


def _is_all_but_an_end(hit: Tensor, size: int) -> bool:
    """All but the first, or all but the last."""
    return len(hit) == size - 1 > 1 and int(hit[-1]) - int(hit[0]) == size - 2


def _indices(hit: Tensor, size: int, name: str) -> str | None:
    """One index, an interval, or every k-th."""
    first, last, number = int(hit[0]), int(hit[-1]), len(hit)
    if number == 1:
        end = {0: "first", size - 1: "last"}.get(first)
        return (
            f"only the {end} {name} (index {first} of {size})"
            if end
            else f"only {name} {first} (of {size})"
        )
    steps = hit.diff()
    step = int(steps[0])
    if not bool((steps == step).all()):
        return None
    if step > 1:
        if number < 3:
            return None
        span = f"from {first} on" if last + step >= size else f"from {first} to {last}"
        return f"only every {_ordinal(step)} {name}, {span} (of {size})"
    if first == 0:
        return f"only the first {number} {_plural(name)} (of {size})"
    if last != size - 1:
        return f"only {_plural(name)} {first} to {last} (of {size})"
    tile = next((t for t in (1024, 512, 256, 128, 64, 32, 16, 8) if first % t == 0), None)
    why = "" if tile is None else f", from a multiple of {tile} on"
    return f"only the last {number} {_plural(name)} (of {size}){why}: {first} to {last}"


def _tail(wrong: Tensor, count: int, *, is_flat: bool) -> str | None:
    """Everything from one place on, in memory order.

    Args:
        wrong: Which elements are wrong.
        count: How many.
        is_flat: Only where this begins at a multiple of a warp, in the middle of a row.
    """
    total, first = wrong.numel(), _first(wrong)
    if not first or count < 2 or count < _FULL * (total - first):
        return None
    tile = next((t for t in (1024, 256, 128, 64, 32) if first % t == 0), None)
    if is_flat and (tile is None or first % wrong.shape[-1] == 0 or count != total - first):
        return None
    why = "" if tile is None else f", a multiple of {tile}: does the grid cover all?"
    return f"only the last {total - first:,} of {total:,} elements in memory order, from {first:,} on{why}"


def _triangle(wrong: Tensor, count: int) -> str | None:
    """The diagonal of the last two dimensions, or a side of it, where at least half of that is wrong."""
    if wrong.ndim < 2 or min(wrong.shape[-2:]) < 4:
        return None
    rows, columns = wrong.shape[-2:]
    pages = wrong.numel() // (rows * columns)
    on_diagonal = pages * min(rows, columns)
    reached = min(rows, columns - 1)  # rows that have something above the diagonal
    above_diagonal = pages * (reached * (columns - 1) - reached * (reached - 1) // 2)
    below_diagonal = wrong.numel() - above_diagonal - on_diagonal
    diagonal = int(wrong.diagonal(dim1=-2, dim2=-1).sum())
    above = int(torch.triu(wrong, 1).sum())
    for number, size, said in (
        (diagonal, on_diagonal, "only the diagonal (column and row are equal)"),
        (above, above_diagonal, "only above the diagonal (column > row)"),
        (count - above - diagonal, below_diagonal, "only below the diagonal (column < row)"),
    ):
        if number >= SHARE * count and number >= _SPARSE * size:
            return said
    if not diagonal and count >= _FULL * (wrong.numel() - on_diagonal):
        return (
            "everywhere but on the diagonal: a row's index in place of a column's, or the reverse?"
        )
    return None


def _tiles(wrong: Tensor) -> str | None:
    """Tiles of the last two dimensions that are wrong as a whole, while others are right."""
    if wrong.ndim < 2:
        return None
    rows, columns = wrong.shape[-2:]
    pages = wrong.reshape(-1, rows, columns)
    # What is made of large tiles is made of small ones, too: most outputs are done with these.
    if not _tile_shares(pages, _TILES[-1])[1]:
        return None
    for tile in _TILES:
        shares, is_tiled = _tile_shares(pages, tile)
        if not is_tiled:
            continue
        bad = shares >= _FULL
        first = torch.unravel_index(torch.tensor(_first(bad)), bad.shape)
        _, row, column = (int(i) for i in first)
        return (
            f"whole tiles of {tile} x {tile}: {int(bad.sum()):,} of {bad.numel():,}, the first at "
            f"row {row * tile}, column {column * tile}"
        )
    return None


def _tile_shares(pages: Tensor, tile: int) -> tuple[Tensor, bool]:
    """The share of wrong elements in each tile, and whether each is all wrong or all right."""
    down, across = pages.shape[1] // tile, pages.shape[2] // tile
    if down * across < 4:
        return pages, False
    inner = pages[:, : down * tile, : across * tile]
    tiles = inner.view(len(pages), down, tile, across, tile)
    shares = tiles.sum(dim=(2, 4)).float().div_(tile * tile)
    bad, good = shares >= _FULL, shares <= 1.0 - _FULL
    is_pure = bool((bad | good).float().mean() >= _FULL)
    # A page that is wrong as a whole is no tile of anything.
    has_bad, has_good = bad.flatten(1).any(dim=1), good.flatten(1).any(dim=1)
    return shares, is_pure and bool(has_bad.any()) and bool(has_good[has_bad].float().mean() >= 0.5)


def _period(wrong: Tensor, count: int) -> str | None:
    """Every k-th element in memory order."""
    total = wrong.numel()
    periods = [p for p in _PERIODS if p * 2 <= total and total // 2 <= count * p <= 1.2 * total]
    if not periods:
        return None
    positions = sample(wrong)
    for period in periods:
        rest = positions % period
        value = int(rest.bincount().argmax())
        if bool((rest == value).double().mean() >= SHARE):
            return f"only every {_ordinal(period)} element in memory order, from element {value} on"
    return None


def _ordinal(number: int) -> str:
    """`2nd`, `3rd`, `32nd`, `11th`."""
    tens = number % 100
    ending = "th" if 10 < tens < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _plural(name: str) -> str:
    return f"{name.removesuffix('ex')}ices" if name.endswith("index") else f"{name}s"
