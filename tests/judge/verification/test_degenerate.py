from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from cuda_gym.judge.verification.degenerate import passing_degenerate
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]

X = "torch.rand(64, 64)"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return x * 0", "all zeros"),
        ("return x * 0 + 3", "a constant, the mean"),
        ("return torch.cat([x, x * 0])", "the first half, and zeros"),
        ("return x.view(-1, 32)", "a copy of input 0"),
        ("return x + 1", None),
        ("return x.mean()", None),
    ],
)
def test_outputs_that_took_no_work_are_found(
    make_trial: MakeTrial, body: str, name: str | None
) -> None:
    trial = make_trial(body, X)
    unlike = [torch.full_like(output, 1e9) for output in trial.eager]
    assert passing_degenerate([trial], lambda: unlike) == name


def test_each_of_several_outputs_has_to_take_work(make_trial: MakeTrial) -> None:
    trial = make_trial("return x + 1, x * 0, x + 2", X)
    unlike = [torch.full_like(output, 1e9) for output in trial.eager]
    assert passing_degenerate([trial], lambda: unlike) == "all zeros as output 1"


def test_the_outputs_of_a_previous_draw_are_found(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.softmax(-1).sum(-1)", X)
    assert passing_degenerate([trial], lambda: trial.eager) == "the outputs of a previous draw"


def test_one_draw_that_tells_the_difference_is_enough(make_trial: MakeTrial) -> None:
    ordinary, signed = (
        make_trial("return x.relu()", X, kind=kind) for kind in (DrawKind.ORDINARY, DrawKind.SIGNED)
    )
    unlike = [ordinary.eager[0] + 1]
    assert passing_degenerate([ordinary], lambda: unlike) == "a copy of input 0"
    assert passing_degenerate([ordinary, signed], lambda: unlike) is None
