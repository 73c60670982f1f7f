"""NaN, infinities, whole numbers and forms are compared, too, and outputs of timed calls in short."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from tests.judge.verification.simulated_kernels import (
    sequential_matmul,
    tf32,
)
from torch import Tensor

from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]

K = 4096


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)


def test_nan_is_wrong_where_a_number_is_expected_and_right_where_nan_is(
    make_trial: MakeTrial,
) -> None:
    x = torch.tensor([[-1.0] + [4.0] * 63])
    trial = make_trial("return x.sqrt()", x)
    right = torch.tensor([[math.nan] + [2.0] * 63])
    assert trial.judge([right]).passed
    assert not trial.judge([right.nan_to_num(0.0)]).passed
    more = right.clone()
    more[0, 5] = math.nan
    findings = trial.judge([more])
    assert findings.num_wrong == 1
    assert findings.error_ratio == math.inf


def test_the_sign_of_an_infinity_counts(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.log()", torch.tensor([[0.0] + [2.0] * 63]))
    right = trial.eager[0]
    assert right[0, 0] == -math.inf
    assert trial.judge([right]).passed
    flipped = right.clone()
    flipped[0, 0] = math.inf
    assert trial.judge([flipped]).num_wrong == 1
    large = right.clone()
    large[0, 0] = -3e38
    assert trial.judge([large]).num_wrong == 1


def test_integers_are_compared_exactly(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 3", torch.arange(1 << 20) + (1 << 60))
    assert trial.judge([trial.eager[0].clone()]).passed
    off = trial.eager[0].clone()
    off[77] += 1
    findings = trial.judge([off])
    assert findings.num_wrong == 1
    assert findings.first is not None
    assert findings.first.index == (77,)


@pytest.mark.parametrize("number", [0, 1])
def test_the_output_that_is_wrong_is_named(make_trial: MakeTrial, number: int) -> None:
    trial = make_trial("return x * 2, x * 3", "torch.rand(64, 64)")
    got = [output.clone() for output in trial.eager]
    got[number][3, 4] = 9.0
    findings = trial.judge(got)
    assert findings.output == number
    assert findings.worst is not None
    assert findings.worst.index == (3, 4)
    assert findings.worst.got == 9.0
    assert 0.0 < findings.worst.allowed < 1e-3
    assert "1 of 4,096 elements" in findings.reason


def test_form_is_checked_before_values(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 2", "torch.rand(64, 64)")
    right = trial.eager[0]
    assert "1 are expected" in trial.judge([right, right]).reason
    assert "shape" in trial.judge([right.view(32, 128)]).reason
    assert "dtype" in trial.judge([right.double()]).reason


def test_an_empty_output_is_right(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 2", torch.empty(0, 3))
    assert trial.judge([torch.empty(0, 3)]).passed


@pytest.mark.parametrize("kind", DrawKind)
def test_the_short_decision_agrees_with_the_long_one(make_trial: MakeTrial, kind: DrawKind) -> None:
    trial = make_trial("return x.softmax(-1), x > 0.5", "torch.rand(64, 512)", kind=kind)
    right, flags = trial.eager
    for factor in (1.0, 1.0 + 1e-6, 1.0 + 1e-5, 1.0 + 1e-3, math.nan, math.inf):
        candidate = [right * factor, flags]
        assert trial.accepts(candidate) == trial.judge(candidate).passed
    for candidate in ([right, ~flags], [right], [right.double(), flags], [right.t(), flags]):
        assert not trial.accepts(candidate)
        assert not trial.judge(candidate).passed


def test_the_short_decision_accepts_infinities_that_agree(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.log()", torch.tensor([[0.0] + [2.0] * 63]))
    assert trial.accepts(trial.eager)
    assert not trial.accepts([-trial.eager[0]])


def timed(trial: Trial, got: Tensor, compiled: Tensor) -> float:
    return timed_error_ratio([got], [compiled], trial.expected, trial.draw.inputs)


def test_timed_outputs_are_held_against_the_compiled_reference(make_trial: MakeTrial) -> None:
    trial = make_trial("return x @ y", f"torch.randn(64, {K})", f"torch.randn({K}, 64)")
    torch.manual_seed(99)
    a, b = (torch.randn_like(x) for x in trial.draw.inputs)
    compiled = a @ b
    assert timed(trial, sequential_matmul(a, b), compiled) <= 1.0
    assert timed(trial, tf32(a) @ tf32(b), compiled) > 1.0
    assert timed(trial, trial.eager[0], compiled) > 1.0, "the replay of another draw"
    assert timed(trial, torch.full_like(compiled, math.nan), compiled) == math.inf
    assert timed(trial, compiled.double(), compiled) == math.inf
    assert timed(trial, compiled[:32], compiled) == math.inf


def test_a_heavy_tail_in_a_timed_output_is_no_false_alarm(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.exp()", "torch.rand(1, 4096)")
    x = torch.zeros(1, 4096)
    x[0, 9] = 60.0
    compiled = x.exp()
    nearly = compiled * (1 + 1e-5)
    assert timed(trial, nearly, compiled) <= 1.0
    assert timed(trial, compiled * (1 + 1e-2), compiled) > 1.0


def test_agreeing_infinities_and_nans_of_timed_outputs_pass(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.log()", "torch.rand(64, 64)")
    compiled = torch.rand(64, 64)
    compiled[0, 0], compiled[1, 1] = math.inf, math.nan
    assert timed(trial, compiled.clone(), compiled) <= 1.0
    assert timed(trial, compiled.nan_to_num(), compiled) == math.inf


@pytest.mark.parametrize(
    ("inputs", "forward", "most"),
    [
        ("torch.rand(64, 256)", "return torch.round(x * 50.0).to(torch.int32)", 16),
        ("torch.rand(8, 64)", "return torch.round(x * 50.0).to(torch.int32)", 0),
        ("torch.randint(0, 9, (64, 256))", "return x * 2", 0),
    ],
)
def test_of_whole_numbers_made_of_fractions_a_few_may_differ_from_the_compiled_ones(
    make_trial: MakeTrial, inputs: str, forward: str, most: int
) -> None:
    trial = make_trial(forward, inputs)
    compiled = trial.eager[0]
    for number in (0, most, most + 1):
        got = compiled.clone()
        got.view(-1)[:number] += 1
        assert (timed(trial, got, compiled) <= 1.0) == (number <= most)
        assert trial.accepts([got]) == (number == 0), "a draw that is not timed is exact"
    got = compiled.clone()
    got.view(-1)[0] += 2
    assert timed(trial, got, compiled) == math.inf, "no rounding is off by two"
