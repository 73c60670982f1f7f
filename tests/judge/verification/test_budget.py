from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from cuda_gym.judge.verification.budget import Budget, is_fit
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]


def test_the_allowance_grows_with_eagers_error_up_to_the_ceiling() -> None:
    budget = Budget.of(torch.float32, DrawKind.ORDINARY)
    assert budget.allowance(0.0) == budget.floor
    assert budget.allowance(10.0) == budget.floor + 10.0 * budget.multiple
    assert budget.allowance(1e9) == budget.ceiling


@pytest.mark.parametrize("kind", DrawKind)
def test_the_ceiling_is_below_the_error_of_bfloat16_and_of_fp8(kind: DrawKind) -> None:
    full, half = (Budget.of(dtype, kind).ceiling for dtype in (torch.float32, torch.bfloat16))
    assert full * 2.0**-24 <= 2.0**-8
    assert half * 2.0**-8 <= 0.1


def test_a_draw_is_fit_where_eager_is_good_and_unfit_under_cancellation(
    make_trial: MakeTrial,
) -> None:
    good = make_trial("return x.sum(1)", "torch.rand(64, 256)")
    cancelled = make_trial("return (x + 1e6) - 1e6", "torch.rand(64, 256)")
    assert is_fit(good.expected, DrawKind.ORDINARY)
    assert not is_fit(cancelled.expected, DrawKind.ORDINARY)
    assert not cancelled.is_sound


def test_a_harder_draw_needs_more_room_than_the_ordinary_one(make_trial: MakeTrial) -> None:
    expected = make_trial("return (x + 1e3) - 1e3", "torch.rand(64, 256)").expected
    assert 224.0 < expected[0].eager < 2048.0
    assert is_fit(expected, DrawKind.ORDINARY)
    assert not is_fit(expected, DrawKind.SPIKY)
