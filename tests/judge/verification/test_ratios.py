from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.ratios import Ratios, quick_ratio
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]

WHOLE = 2**24


@pytest.mark.parametrize("kind", [DrawKind.ORDINARY, DrawKind.SPIKY])
@pytest.mark.parametrize("most", [50, 256, 3000])
@pytest.mark.parametrize("body", ["return x.relu()", "return x.relu() > 1"])
def test_looked_at_in_pieces_an_output_is_judged_as_when_looked_at_whole(
    make_trial: MakeTrial, body: str, most: int, kind: DrawKind
) -> None:
    trial = make_trial(body, "torch.randn(64, 256)", kind=kind)
    right, want = trial.eager[0], trial.expected[0]
    places = [(3, 7), (3, 8), (60, 255)]
    for value in (0.0, 1.0, 1e6, math.nan, math.inf):
        got = right.clone()
        for place in places:
            got[place] = value
        whole, pieces = Ratios.of(got, want, WHOLE), Ratios.of(got, want, most)
        assert torch.equal(whole.wrong, pieces.wrong)
        assert (whole.count, whole.first, whole.worst, whole.largest) == (
            pieces.count,
            pieces.first,
            pieces.worst,
            pieces.largest,
        )
        quick = quick_ratio(got, want, most)
        assert quick == quick_ratio(got, want, WHOLE) or math.isnan(quick)
    assert quick_ratio(right, want, most) == quick_ratio(right, want, WHOLE) <= 1.0


def test_of_several_that_are_wrong_the_first_and_the_worst_are_named(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 2", "torch.rand(64, 256)")
    got = trial.eager[0].clone()
    got[2, 5] += 1.0
    got[40, 1] += 3.0
    found = Ratios.of(got, trial.expected[0])
    assert (found.count, found.first, found.worst) == (2, 2 * 256 + 5, 40 * 256 + 1)
