"""Honest kernels pass and dishonest or broken ones fail; kernels are simulated with torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from tests.judge.verification.simulated_kernels import (
    kahan_sum,
    sequential_matmul,
    sequential_sum,
    tf32,
)
from torch import Tensor

from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]

K = 4096


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)


# Honest kernels


@pytest.mark.parametrize("kind", [DrawKind.ORDINARY, DrawKind.SIGNED, DrawKind.LARGE_OFFSET])
@pytest.mark.parametrize("kernel", [sequential_sum, kahan_sum])
def test_a_sum_in_sequence_on_one_thread_passes(
    make_trial: MakeTrial, kernel: Callable[[Tensor], Tensor], kind: DrawKind
) -> None:
    trial = make_trial("return x.sum(1)", f"torch.rand(1024, {K})", kind=kind)
    assert trial.judge([kernel(trial.draw.inputs[0])]).passed


def test_a_sum_in_sequence_passes_with_spikes_too(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.sum(1)", f"torch.randn(1024, {K})", kind=DrawKind.SPIKY)
    assert trial.judge([sequential_sum(trial.draw.inputs[0])]).passed


@pytest.mark.parametrize("draw", ["rand", "randn"])
def test_a_matmul_in_sequence_on_one_thread_passes(make_trial: MakeTrial, draw: str) -> None:
    trial = make_trial("return x @ y", f"torch.{draw}(64, {K})", f"torch.{draw}({K}, 64)")
    assert trial.judge([sequential_matmul(*trial.draw.inputs)]).passed


def test_better_than_eager_passes(make_trial: MakeTrial) -> None:
    trial = make_trial("return x @ y", f"torch.randn(64, {K})", f"torch.randn({K}, 64)")
    a, b = (x.double() for x in trial.draw.inputs)
    findings = trial.judge([(a @ b).float()])
    assert findings.passed
    assert findings.error_ratio is not None
    assert findings.error_ratio < 0.01


def test_a_layer_norm_by_two_sequential_passes_passes_far_from_zero(make_trial: MakeTrial) -> None:
    trial = make_trial(
        "return F.layer_norm(x, (4096,))", f"torch.rand(64, {K})", kind=DrawKind.LARGE_OFFSET
    )
    x = trial.draw.inputs[0]
    centred = x - (sequential_sum(x) / K)[:, None]
    variance = (sequential_sum(centred * centred) / K)[:, None]
    assert trial.judge([centred * torch.rsqrt(variance + 1e-5)]).passed


def test_numbers_that_barely_survive_a_relu_pass(make_trial: MakeTrial) -> None:
    # Nearly every row is zeros and one number, close to zero by cancellation.
    trial = make_trial(
        "return F.relu(x @ y - 14.0)", f"torch.randn(2048, {K}) / 16", f"torch.randn({K}, 64)"
    )
    a, b = trial.draw.inputs
    assert trial.is_sound
    assert trial.judge([F.relu(sequential_matmul(a, b) - 14.0)]).passed
    assert not trial.judge([F.relu(tf32(a) @ tf32(b) - 14.0)]).passed


def test_flushing_the_smallest_numbers_to_zero_passes(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 1e-42", torch.rand(64, 64))
    assert trial.judge([torch.zeros(64, 64)]).passed


@pytest.mark.parametrize("kind", [DrawKind.ORDINARY, DrawKind.SIGNED, DrawKind.TINY_SCALE])
def test_exp_minus_one_passes_for_expm1(make_trial: MakeTrial, kind: DrawKind) -> None:
    trial = make_trial("return F.elu(x)", "torch.randn(64, 512)", kind=kind)
    x = trial.draw.inputs[0]
    assert trial.judge([torch.where(x > 0, x, x.exp() - 1)]).passed


def test_a_sum_of_nearly_equal_terms_in_sequence_passes(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.softmax(-1)", f"torch.rand(256, {K})", kind=DrawKind.TINY_SCALE)
    e = (trial.draw.inputs[0] - trial.draw.inputs[0].amax(1, keepdim=True)).exp()
    assert trial.judge([e / sequential_sum(e)[:, None]]).passed


def test_a_welford_variance_in_sequence_passes_far_from_zero(make_trial: MakeTrial) -> None:
    trial = make_trial(
        "return x.var(-1, correction=0)", f"torch.rand(256, {K})", kind=DrawKind.LARGE_OFFSET
    )
    mean, squares = torch.zeros(256), torch.zeros(256)
    for number, column in enumerate(trial.draw.inputs[0].t().contiguous(), start=1):
        step = column - mean
        mean = mean + step / number
        squares = squares + step * (column - mean)
    assert trial.judge([squares / K]).passed


def test_a_bfloat16_output_rounded_once_passes(make_trial: MakeTrial) -> None:
    trial = make_trial("return F.silu(x) * x", torch.randn(64, 256).bfloat16())
    x = trial.draw.inputs[0].float()
    assert trial.judge([(F.silu(x) * x).bfloat16()]).passed


# Lower precision and approximations


@pytest.mark.parametrize(
    "rounded", [tf32, lambda x: x.half().float(), lambda x: x.bfloat16().float()]
)
def test_a_matmul_of_rounded_inputs_fails(
    make_trial: MakeTrial, rounded: Callable[[Tensor], Tensor]
) -> None:
    trial = make_trial("return x @ y", f"torch.randn(64, {K})", f"torch.randn({K}, 64)")
    a, b = trial.draw.inputs
    findings = trial.judge([rounded(a) @ rounded(b)])
    assert not findings.passed
    assert findings.num_wrong > 1000


@pytest.mark.parametrize("kind", [DrawKind.SIGNED, DrawKind.SPIKY])
def test_a_sum_of_positive_numbers_in_float16_fails_on_a_harder_draw(
    make_trial: MakeTrial, kind: DrawKind
) -> None:
    trial = make_trial("return x.sum(1)", f"torch.rand(64, {K})", kind=kind)
    assert not trial.judge([trial.draw.inputs[0].half().float().sum(1)]).passed


@pytest.mark.parametrize("kind", [DrawKind.ORDINARY, DrawKind.SIGNED])
def test_gelu_by_tanh_fails_where_erf_is_asked(make_trial: MakeTrial, kind: DrawKind) -> None:
    trial = make_trial("return F.gelu(x)", "torch.rand(64, 512)", kind=kind)
    assert not trial.judge([F.gelu(trial.draw.inputs[0], approximate="tanh")]).passed


def test_fp8_sums_fail_where_bfloat16_is_asked(make_trial: MakeTrial) -> None:
    trial = make_trial(
        "return x @ y", torch.randn(64, 512).bfloat16(), torch.randn(512, 64).bfloat16()
    )
    a, b = (x.to(torch.float8_e4m3fn).float() for x in trial.draw.inputs)
    assert not trial.judge([(a @ b).bfloat16()]).passed


def test_exp_without_subtracting_the_maximum_fails_far_from_zero(make_trial: MakeTrial) -> None:
    def softmax(x: Tensor) -> Tensor:
        return x.exp() / x.exp().sum(1, keepdim=True)

    body = "return x.softmax(-1)"
    ordinary = make_trial(body, "torch.randn(64, 512)")
    far = make_trial(body, "torch.randn(64, 512)", kind=DrawKind.LARGE_OFFSET)
    assert ordinary.judge([softmax(ordinary.draw.inputs[0])]).passed
    findings = far.judge([softmax(far.draw.inputs[0])])
    assert not findings.passed
    assert findings.num_wrong == 64 * 512
    assert findings.error_ratio == math.inf


def test_a_variance_by_subtraction_fails_far_from_zero(make_trial: MakeTrial) -> None:
    body = "return F.layer_norm(x, (4096,))"
    trial = make_trial(body, f"torch.rand(64, {K})", kind=DrawKind.LARGE_OFFSET)
    x = trial.draw.inputs[0]
    mean = x.mean(1, keepdim=True)
    variance = (x * x).mean(1, keepdim=True) - mean * mean
    assert not trial.judge([(x - mean) * torch.rsqrt(variance + 1e-5)]).passed


def test_a_forgotten_epsilon_fails_at_a_tiny_scale(make_trial: MakeTrial) -> None:
    body = "return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)"
    trial = make_trial(body, "torch.randn(64, 512)", kind=DrawKind.TINY_SCALE)
    x = trial.draw.inputs[0]
    assert not trial.judge([x * torch.rsqrt(x.square().mean(-1, keepdim=True))]).passed


# Work left out


@pytest.mark.parametrize("kind", DrawKind)
def test_a_missing_last_row_or_element_fails_on_every_draw(
    make_trial: MakeTrial, kind: DrawKind
) -> None:
    trial = make_trial("return x * 2", "torch.rand(64, 512)", kind=kind)
    for hole in (slice(-1, None), slice(32768 - 512, None)):
        got = trial.eager[0].clone()
        got.flatten()[hole] = 0.0
        findings = trial.judge([got])
        assert not findings.passed
        assert findings.num_wrong == len(got.flatten()[hole])


@pytest.mark.parametrize("value", [0.0, 1 / 16384])
def test_small_outputs_are_no_excuse_for_a_constant(make_trial: MakeTrial, value: float) -> None:
    trial = make_trial("return x.softmax(-1)", "torch.rand(16, 16384)")
    assert not trial.judge([torch.full((16, 16384), value)]).passed


def test_a_sum_without_its_last_element_fails(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.sum(1)", f"torch.rand(64, {K})")
    assert not trial.judge([trial.draw.inputs[0][:, :-1].sum(1)]).passed


def test_small_elements_beside_a_spike_are_still_compared(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 2", "torch.randn(64, 512)", kind=DrawKind.SPIKY)
    got = trial.eager[0].clone()
    row = got[-1]  # the spikiest of them all
    small = (row.abs() < 1.0).nonzero().flatten()[3]
    got[-1, small] += 1e-3
    findings = trial.judge([got])
    assert findings.num_wrong == 1
    assert findings.first is not None
    assert findings.first.index == (63, int(small))


def test_a_small_row_is_judged_at_its_own_scale(make_trial: MakeTrial) -> None:
    x = torch.randn(64, 512)
    x[7] *= 1e-6
    trial = make_trial("return x * 2", x)
    got = trial.eager[0].clone()
    got[7] = 0.0
    findings = trial.judge([got])
    assert findings.num_wrong == 512
    assert findings.pattern is not None
    assert "only row 7 (of 64)" in findings.pattern
