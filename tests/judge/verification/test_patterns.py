from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.patterns import find_pattern


@pytest.fixture
def want() -> Tensor:
    return torch.randn(100, 300, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def pattern(got: Tensor, want: Tensor) -> str:
    return find_pattern(got, want, ~((got - want).abs() <= 1e-9)) or ""


def test_nothing_wrong_has_no_pattern(want: Tensor) -> None:
    assert find_pattern(want, want, torch.zeros(100, 300, dtype=torch.bool)) is None


def test_noise_has_no_pattern(want: Tensor) -> None:
    noise = torch.randn(want.shape, generator=torch.Generator().manual_seed(2), dtype=want.dtype)
    assert find_pattern(noise, want, torch.ones(want.shape, dtype=torch.bool)) is None


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "they are 0"), (math.nan, "NaN"), (math.inf, "infinite")]
)
def test_special_values_are_named(want: Tensor, value: float, words: str) -> None:
    assert words in pattern(torch.full_like(want, value), want)


def test_a_constant_factor_is_named(want: Tensor) -> None:
    assert pattern(want * 2, want) == "they are 2 times what they should be"


def test_a_constant_difference_is_named(want: Tensor) -> None:
    assert pattern(want + 0.5, want) == "they are off by +0.5, all of them"


def test_one_value_everywhere_is_named(want: Tensor) -> None:
    assert pattern(torch.full_like(want, 7.0), want) == "they are all 7"


def test_low_precision_is_named(want: Tensor) -> None:
    assert "lower precision" in pattern(want.bfloat16().double(), want)


def test_an_index_that_is_off_by_one_is_named(want: Tensor) -> None:
    assert "next element" in pattern(want.flatten().roll(-1).view(want.shape), want)
    assert "previous element" in pattern(want.flatten().roll(1).view(want.shape), want)


def test_a_transposed_output_is_named(want: Tensor) -> None:
    assert "transposed" in pattern(want.t().reshape(want.shape), want)
    square = want[:, :100].contiguous()
    assert "transposed" in pattern(square.t().contiguous(), square)


def test_a_reversed_output_is_named(want: Tensor) -> None:
    assert "reverse" in pattern(want.flatten().flip(0).view(want.shape), want)


def spoil(want: Tensor, place: tuple[slice | int, ...]) -> str:
    """The pattern where a part is replaced by noise, which has no pattern of its own."""
    got = want.clone()
    part = got[place]
    part += torch.randn(part.shape, generator=torch.Generator().manual_seed(3)).to(want) + 5.0
    return pattern(got, want)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((slice(None), -1), "only the last index (of 300) in dimension 1"),
        ((-1, slice(None)), "only the last index (of 100) in dimension 0"),
        ((slice(None), 17), "only index 17 (of 300) in dimension 1"),
        ((slice(None), slice(256, None)), "only indices from 256 on, a multiple of 256"),
        ((slice(None), slice(288, None)), "only indices from 288 on, a multiple of 32"),
        ((slice(None), slice(297, None)), "only the last 3 indices (of 300) in dimension 1"),
        ((slice(None), slice(3, None, 4)), "every 4-th index, from 3 on (of 300) in dimension 1"),
        ((-1, slice(-1, None)), "only the very last element"),
    ],
)
def test_where_the_wrong_elements_are_is_named(
    want: Tensor, place: tuple[slice | int, ...], words: str
) -> None:
    assert words in spoil(want, place)


def test_a_period_in_memory_order_is_named() -> None:
    want = torch.arange(3000.0, dtype=torch.float64).view(100, 30)
    flat = want.flatten().clone()
    flat[5::64] *= torch.arange(47.0) + 3.0
    assert "every 64-th index, from 5 on (of 3000) in memory order" in pattern(
        flat.view(want.shape), want
    )


def test_what_and_where_are_told_together(want: Tensor) -> None:
    got = want.clone()
    got[:, 256:] = 0.0
    found = pattern(got, want)
    assert "they are 0" in found
    assert "from 256 on" in found


def test_what_holds_for_half_of_them_is_not_claimed(want: Tensor) -> None:
    got = want.clone()
    got[:, 17] = 0.0
    got[:, 31] = 4.0
    assert pattern(got, want) == ""
