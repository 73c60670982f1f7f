from __future__ import annotations

import platform

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.nan_origin import describe_nan, describe_unwritten_integers

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
WIDTHS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def said(values: Tensor, *, place: str | None = "all", condition: str | None = None) -> str:
    return describe_nan(values, place=place, condition=condition)


def fresh(dtype: torch.dtype) -> Tensor:
    """What torch allocates while a submission is verified."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        return torch.empty(8, dtype=dtype)
    finally:
        torch.use_deterministic_algorithms(False)


def poison(dtype: torch.dtype) -> Tensor:
    """What shared memory holds meanwhile: 0xfff5 again and again."""
    words = torch.full((8 * dtype.itemsize // 2,), 0xFFF5 - 0x10000, dtype=torch.int16)
    return words.view(dtype)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors make other NaN")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_what_was_never_written_is_told_from_what_was_computed(dtype: torch.dtype) -> None:
    zero = torch.zeros(8)
    assert "never written" in said(fresh(dtype))
    if dtype != torch.bfloat16:  # whose conversion makes 0x7fff of every NaN, as on a GPU
        assert "computed: inf - inf" in said((zero / zero).to(dtype))
    assert "they come from shared memory" in said(poison(dtype))


def test_arithmetic_hands_on_where_a_nan_comes_from() -> None:
    assert "shared memory" in said(poison(torch.float32) * 2 + 1)
    assert "shared memory" in said(-poison(torch.float32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_what_a_gpu_has_computed_is_told_so(dtype: torch.dtype) -> None:
    largest = torch.full(
        (8,), torch.iinfo(WIDTHS[dtype.itemsize]).max, dtype=WIDTHS[dtype.itemsize]
    )
    assert "computed, as by 0 / 0" in said(largest.view(dtype))


def test_a_nan_that_depends_on_an_input_was_computed() -> None:
    assert said(fresh(torch.float32), condition="only where x is negative") == (
        "computed, as by log or pow of a negative number"
    )


def test_a_nan_from_a_gpu_that_was_not_computed_was_never_written() -> None:
    where = "only where x is negative"
    told = describe_nan(fresh(torch.float32), place=None, condition=where, is_gpu=True)
    assert told == "never written"


def test_nan_at_places_without_a_name_may_have_been_computed() -> None:
    assert "never written, or computed by log" in said(fresh(torch.float32), place=None)


def test_integers_that_were_never_written_hold_the_largest_number() -> None:
    wrong = torch.ones(8, dtype=torch.bool)
    assert "never written" in (describe_unwritten_integers(fresh(torch.int64), wrong) or "")
    assert describe_unwritten_integers(torch.arange(8), wrong) is None
    assert describe_unwritten_integers(torch.zeros(8), wrong) is None
