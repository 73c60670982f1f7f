"""Each pattern is made by a wrong computation of the kind that a kernel makes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.pattern_sample import sample
from cuda_gym.judge.verification.patterns import find_pattern


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def want() -> Tensor:
    return normal(100, 300)


def pattern(got: Tensor, want: Tensor, **given: Tensor) -> str:
    wrong = ~((got.double() - want).abs() <= 1e-9 * (1 + want.abs()))
    return find_pattern(got, want, wrong, given=given) or ""


def test_nothing_wrong_has_no_pattern(want: Tensor) -> None:
    assert find_pattern(want, want, torch.zeros(100, 300, dtype=torch.bool)) is None


@pytest.mark.parametrize("shape", [(100, 300), (64,), (4, 16, 8, 8), (2, 3, 4, 5, 6)])
def test_noise_has_no_pattern(shape: tuple[int, ...]) -> None:
    want, noise = normal(*shape), normal(*shape, seed=2)
    assert pattern(noise, want, x=normal(*shape, seed=3)) == ""


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.9])
def test_noise_at_random_places_has_no_pattern(want: Tensor, share: float) -> None:
    chosen = torch.rand(want.shape, generator=torch.Generator().manual_seed(5)) < share
    got = torch.where(chosen, normal(100, 300, seed=2), want)
    assert pattern(got, want, x=normal(100, 300, seed=3)) == ""


def test_what_holds_for_half_of_them_is_not_claimed(want: Tensor) -> None:
    got = want.clone()
    got[:, 17] = 0.0
    got[:, 31] = 4.0
    assert pattern(got, want) == ""


def test_what_and_where_are_told_together(want: Tensor) -> None:
    got = want.clone()
    got[:, 256:] = 0.0
    assert pattern(got, want) == (
        "they are 0; only the last 44 columns (of 300), from a multiple of 256 on: 256 to 299"
    )


# What they are


@pytest.mark.parametrize(
    ("computed", "words"),
    [
        (lambda x: x * 0, "they are 0"),
        (lambda x: x * math.inf, "infinite"),
        (lambda x: x * 2, "they are 2 times what they should be"),
        (lambda x: -x, "their sign is flipped"),
        (lambda x: x / math.log(2), "log2 in place of log"),
        (lambda x: x + 0.5, "they are off by +0.5, all of them"),
        (lambda x: x * 0 + 7, "they are all 7"),
        (lambda x: x.abs(), "they have lost their sign"),
        (lambda x: x.relu(), "they are 0 where a negative number is expected"),
        (lambda x: x.half().double(), "rounded to float16"),
        (lambda x: x.bfloat16().double(), "rounded to bfloat16"),
        (lambda x: x * (1 + 1e-3 * torch.sin(1e5 * x)), "lower precision or an approximation"),
        (lambda x: 1 / x, "the reciprocal"),
        (lambda x: x.square(), "the square of what they should be: a root is missing"),
        (lambda x: x.flatten().roll(-1).view(x.shape), "value of the next element"),
        (lambda x: x.flatten().roll(1).view(x.shape), "value of the previous element"),
        (lambda x: x.roll(1, 0), "each row has the values of the previous row"),
        (lambda x: x.t().reshape(x.shape), "rows and columns (100 and 300) are swapped"),
        (lambda x: x.flatten().flip(0).view(x.shape), "the output in reverse order"),
        (lambda x: x.flip(1), "each row is in reverse order"),
    ],
)
def test_what_wrong_values_are_is_named(
    want: Tensor, computed: Callable[[Tensor], Tensor], words: str
) -> None:
    assert words in pattern(computed(want), want)


def test_a_mean_without_its_division_is_known_by_the_size() -> None:
    x = normal(64, 384)
    assert "384 is a size of the inputs: a division by it is missing" in pattern(
        x.sum(1), x.mean(1), x=x
    )


def test_attention_without_its_scale_is_known_by_the_root_of_the_size() -> None:
    q, k = normal(32, 48), normal(32, 48, seed=2)
    scores = q @ k.T
    assert "the root of 48" in pattern(scores, scores / math.sqrt(48), q=q, k=k)


def test_a_variance_with_the_wrong_divisor_is_named() -> None:
    x = normal(64, 10)
    assert "10 and 9 are mixed up" in pattern(x.var(1, correction=0), x.var(1), x=x)


def test_heads_and_positions_that_are_swapped_are_named() -> None:
    want = normal(2, 8, 6, 16)
    got = want.transpose(1, 2).reshape(want.shape)
    assert "channels and rows (8 and 6) are swapped" in pattern(got, want)


# What was left out


def test_a_bias_that_is_not_added_is_named() -> None:
    x, bias = normal(64, 96), normal(96, seed=2)
    assert pattern(x, x + bias, x=x, bias=bias) == "they are a copy of x"
    assert (
        pattern(2 * x, 2 * x + bias, x=x, bias=bias) == "bias is left out: expected is got + bias"
    )


def test_the_bias_of_channels_is_told_from_one_of_columns() -> None:
    x, bias = normal(4, 8, 8, 8), normal(8, seed=2)
    got, want = 2 * x, 2 * x + bias.view(1, 8, 1, 1)
    assert pattern(got, want, x=x, bias=bias) == "bias is left out: expected is got + bias"
    assert "bias" not in pattern(2 * x + bias, want, bias=normal(8, seed=3))


def test_a_weight_or_a_residual_that_is_left_out_is_named() -> None:
    x, weight = normal(64, 96), normal(96, seed=2)
    assert "weight is left out: expected is got * weight" in pattern(
        x.tanh(), x.tanh() * weight, weight=weight
    )
    assert "x is left out: expected is got + x" in pattern(x.tanh(), x.tanh() + x, x=x)


# Rows


def test_a_softmax_that_is_not_normalised_is_off_by_a_factor_of_each_row() -> None:
    x = normal(64, 96)
    assert "each row is off by a factor of its own" in pattern(x.exp(), x.softmax(1))


def test_a_mean_that_is_not_subtracted_is_a_difference_of_each_row() -> None:
    x = normal(64, 96) + normal(64, 1, seed=2)
    assert "each row is off by a difference of its own" in pattern(x, x - x.mean(1, keepdim=True))


def test_a_wrong_mean_and_variance_are_a_straight_line_of_each_row() -> None:
    x = normal(64, 96) + normal(64, 1, seed=2)
    half = x[:, :48]
    got = (x - half.mean(1, keepdim=True)) / half.std(1, keepdim=True)
    want = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    assert "each row is right up to a factor and a difference of its own" in pattern(got, want)


def test_planes_that_are_wrong_as_a_whole_are_no_tiles() -> None:
    want = normal(4, 16, 32, 32)
    got = normal(4, 16, 32, 32, seed=2)
    got[0, 3], got[2, 7] = want[0, 3], want[2, 7]
    assert "tiles" not in pattern(got, want)


def test_a_wrong_scale_of_channels_is_a_factor_of_each_channel() -> None:
    x, scale = normal(4, 8, 8, 8), normal(1, 8, 1, 1, seed=2).abs() + 2
    assert "each channel is off by a factor of its own" in pattern(x, x * scale)


# When


def test_a_branch_of_an_activation_is_known_by_its_input() -> None:
    x = normal(64, 96)
    want = torch.where(x > 0, x, x.exp() - 1)
    found = pattern(torch.where(x > 0, x, 0.1 * x), want, x=x)
    assert found.endswith("only where x is negative")


def test_a_threshold_is_named() -> None:
    x = 3 * normal(64, 96)
    found = pattern(torch.where(x < 4, x.exp(), x), x.exp(), x=x)
    assert "only where x is at least 4.0" in found


def test_a_clamp_is_known_by_what_is_expected() -> None:
    want = normal(64, 96)
    assert "they are all 1; only where the expected value is at least 1" in pattern(
        want.clamp(max=1), want
    )


# Where


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
