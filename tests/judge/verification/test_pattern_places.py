"""Where wrong elements are is named; each place is one that a kernel gets wrong."""

from __future__ import annotations

import math

import pytest
import torch
from tests.judge.verification.wrong_outputs import normal, pattern
from torch import Tensor

from cuda_gym.judge.verification.pattern_sample import sample


@pytest.fixture
def want() -> Tensor:
    return normal(100, 300)


def spoil(want: Tensor, place: tuple[slice | int, ...]) -> str:
    """The pattern where a part is replaced by noise, which has no pattern of its own."""
    got = want.clone()
    part = got[place]
    part += torch.randn(part.shape, generator=torch.Generator().manual_seed(3)).to(want) + 5.0
    return pattern(got, want)


ALL = slice(None)


@pytest.mark.parametrize(
    ("shape", "place", "words"),
    [
        ((100, 300), (ALL, -1), "only the last column (index 299 of 300)"),
        ((100, 300), (-1, ALL), "only the last row (index 99 of 100)"),
        ((100, 300), (0, ALL), "only the first row (index 0 of 100)"),
        ((100, 300), (ALL, 17), "only column 17 (of 300)"),
        ((100, 300), (ALL, slice(256, None)), "only the last 44 columns (of 300), from a multiple of 256 on: 256 to 299"),
        ((100, 300), (ALL, slice(297, None)), "only the last 3 columns (of 300): 297 to 299"),
        ((100, 300), (ALL, slice(0, 4)), "only the first 4 columns (of 300)"),
        ((100, 300), (ALL, slice(32, 64)), "only columns 32 to 63 (of 300)"),
        ((100, 300), (ALL, slice(3, None, 4)), "only every 4th column, from 3 on (of 300)"),
        ((100, 320), (ALL, slice(31, None, 32)), "only every 32nd column, from 31 on (of 320)"),
        ((100, 300), (ALL, slice(1, None)), "every column but the first column (index 0 of 300)"),
        ((100, 300), (-1, slice(-1, None)), "only the very last element"),
        ((100, 300), (-1, slice(256, None)), "only the last row (index 99 of 100) and only the last 44 columns (of 300), from a multiple of 256 on: 256 to 299"),
        ((4, 16, 8, 8), (ALL, 5), "only channel 5 (of 16)"),
        ((4, 16, 8, 8), (3, ALL), "only the last batch item (index 3 of 4)"),
        ((4, 16, 8, 8), (ALL, ALL, ALL, 0), "only the first column (index 0 of 8)"),
        ((64,), (63,), "only the very last element"),
        ((1000,), (slice(992, None),), "only the last 8 elements (of 1000), from a multiple of 32 on: 992 to 999"),
        ((2, 3, 4, 5, 6, 7), (ALL, ALL, ALL, ALL, ALL, 3), "only dimension-5 index 3 (of 7)"),
    ],
)  # fmt: skip
def test_where_the_wrong_elements_are_is_named(
    shape: tuple[int, ...], place: tuple[slice | int, ...], words: str
) -> None:
    assert spoil(normal(*shape), place) == words


def test_a_running_sum_that_is_none_is_right_only_in_the_first_column() -> None:
    x = normal(64, 96)
    assert pattern(x, x.cumsum(1), x=x) == (
        "they are a copy of x; every column but the first column (index 0 of 96)"
    )


def test_all_rows_but_one_at_an_end_are_named(want: Tensor) -> None:
    got = normal(100, 300, seed=2)
    got[0], got[40] = want[0], normal(300, seed=4)
    assert pattern(got, want) == "every row but the first row (index 0 of 100)"
    got[0], got[40] = normal(300, seed=5), want[40]
    assert pattern(got, want) == ""


def test_a_grid_that_is_too_small_leaves_a_tail_in_memory_order() -> None:
    want = normal(60, 77)
    got = want.clone()
    got.view(-1)[4096:] = normal(524, seed=2) + 5
    assert "only the last 524 of 4,620 elements in memory order, from 4,096 on" in pattern(
        got, want
    )


def test_whole_tiles_are_named() -> None:
    want = normal(128, 96)
    got = want.clone()
    for row, column in ((0, 32), (64, 64), (96, 0)):
        got[row : row + 32, column : column + 32] = normal(32, 32, seed=2)
    assert "whole tiles of 32 x 32: 3 of 12, the first at row 0, column 32" in pattern(got, want)


def test_triangles_and_the_diagonal_are_named() -> None:
    x = normal(48, 48)
    assert "only above the diagonal" in pattern(x, x.tril())
    assert "only below the diagonal" in pattern(x, x.triu())
    assert "only the diagonal" in pattern(x, x + torch.eye(48))
    weight = normal(48, seed=2)
    assert "everywhere but on the diagonal" in pattern(x.exp() * weight[:, None], x.exp() * weight)


def test_a_period_in_memory_order_is_named() -> None:
    want = torch.arange(3000.0, dtype=torch.float64).view(100, 30)
    flat = want.flatten().clone()
    flat[5::64] *= torch.arange(47.0) + 3.0
    assert "only every 64th element in memory order, from element 5 on" in pattern(
        flat.view(want.shape), want
    )


def test_a_logarithm_of_what_may_be_negative_is_no_memory_that_was_never_written() -> None:
    x = normal(64, 96)
    want = x.abs().log()
    assert pattern(torch.where(x > 0, want, math.nan), want, x=x) == (
        "they are NaN: computed, as by log or pow of a negative number; only where x is negative"
    )


def test_nan_beside_wrong_numbers_do_not_hide_what_these_are(want: Tensor) -> None:
    got = 2 * want
    got[:, :100] = math.nan
    assert pattern(got, want) == (
        "10,000 of them are NaN, only the first 100 columns (of 300): never written, or computed "
        "from memory that was never written; of the others: they are 2 times what they should be"
    )


def test_nan_among_other_wrong_numbers_have_a_condition_of_their_own() -> None:
    x = normal(64, 96)
    assert pattern(x.log(), x.exp(), x=x).startswith(
        f"{int((x < 0).sum()):,} of them are NaN, only where x is negative: computed"
    )


def test_a_few_elements_at_the_diagonal_or_below_it_are_none_of_these_patterns() -> None:
    want = normal(128, 128)
    got = want.clone()
    for row, column in ((40, 0), (64, 32), (96, 17), (100, 64), (77, 5), (50, 49), (3, 3), (9, 9)):
        got[row, column] += row + 5.0
    assert "diagonal" not in pattern(got, want)
    assert "diagonal" not in pattern(want + torch.diag(torch.arange(128.0) == 3), want)


def test_all_but_a_part_of_a_vector_is_named() -> None:
    want = normal(2000)
    got = normal(2000, seed=2)
    got[8:270] = want[8:270]
    assert pattern(got, want) == "every element but elements 8 to 269 (of 2000)"


def test_one_wrong_element_has_a_place_at_most() -> None:
    want = normal(50, 70)
    got = want.clone()
    got[13, 17] = 0.0
    assert pattern(got, want) == ""
    got[-1, -1], got[13, 17] = 0.0, want[13, 17]
    assert pattern(got, want) == "only the very last element"


@pytest.mark.parametrize("count", [0, 5, 40_000])
def test_a_sample_taken_in_pieces_is_that_of_the_whole(count: int) -> None:
    mask = torch.zeros(300, 1000, dtype=torch.bool)
    mask.view(-1)[torch.arange(count) * 7] = True
    whole = sample(mask, 2**24)
    assert bool(mask.flatten()[whole].all())
    assert min(count, 1 << 12) <= len(whole) <= 1 << 14
    assert torch.equal(sample(mask, 1001), whole)
