from __future__ import annotations

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.local_scale import finite_size, group_scales, group_width


def local_scale(best: Tensor, *, masked: bool) -> Tensor:
    """For each element."""
    scales = group_scales(best, masked=masked)
    rows = finite_size(best).reshape(-1, group_width(best))
    return torch.maximum(rows, scales[:, None]).reshape(best.shape)


def test_the_scale_is_that_of_the_row() -> None:
    best = torch.ones(2, 64, dtype=torch.float64)
    best[1] = 100.0
    scale = local_scale(best, masked=False)
    assert torch.allclose(scale[0], torch.ones(64, dtype=torch.float64))
    assert torch.allclose(scale[1], torch.full((64,), 100.0, dtype=torch.float64))


def test_short_rows_are_joined() -> None:
    best = torch.zeros(16, 4, dtype=torch.float64)
    best[0] = 1.0
    scale = local_scale(best, masked=False)
    assert float(scale[1, 0]) == pytest.approx(0.25)


def test_an_element_that_is_large_is_its_own_scale() -> None:
    best = torch.ones(1, 64, dtype=torch.float64)
    best[0, 5] = 1e6
    assert float(local_scale(best, masked=False)[0, 5]) == 1e6


def test_a_row_of_zeros_and_one_small_number_is_judged_at_the_typical_scale() -> None:
    best = torch.ones(8, 64, dtype=torch.float64)
    best[3] = 0.0
    best[3, 5] = 1e-6
    assert float(local_scale(best, masked=False)[3, 5]) == pytest.approx(1.0)
    best[3] = 1e-6
    assert float(local_scale(best, masked=False)[3, 5]) == pytest.approx(1e-6)


def test_a_tensor_of_zeros_has_a_scale_of_zero() -> None:
    assert not local_scale(torch.zeros(8, 64, dtype=torch.float64), masked=True).any()


def test_spikes_are_masked_out_of_the_scale_of_the_others() -> None:
    best = torch.ones(1, 64, dtype=torch.float64)
    best[0, 5] = 1e3
    assert float(local_scale(best, masked=False)[0, 0]) > 100.0
    assert float(local_scale(best, masked=True)[0, 0]) == pytest.approx(1.0)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", [(40, 7, 5), (3, 1000), (5000,), (), (0, 4)])
def test_scales_taken_in_pieces_are_those_of_the_whole(
    shape: tuple[int, ...], masked: bool
) -> None:
    best = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    best = torch.where(best > 0.8, best * 50, best).relu()
    whole = group_scales(best, masked=masked, most=2**24)
    for most in (64, 100, 999):
        assert torch.allclose(group_scales(best, masked=masked, most=most), whole, rtol=1e-12)
