"""Each pattern is made by a wrong computation of the kind that a kernel makes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from tests.judge.verification.wrong_outputs import normal, pattern
from torch import Tensor

from cuda_gym.judge.verification.patterns import find_pattern


@pytest.fixture
def want() -> Tensor:
    return normal(100, 300)


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
