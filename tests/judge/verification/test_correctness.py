"""Honest kernels pass and dishonest or broken ones fail; kernels are simulated with torch."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]

K = 4096


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(1)


def sequential_sum(x: Tensor) -> Tensor:
    """One thread a row, float32, first to last."""
    total = torch.zeros(len(x))
    for column in x.t().contiguous():
        total += column
    return total


def sequential_matmul(a: Tensor, b: Tensor) -> Tensor:
    """One thread an element, float32, first to last."""
    total = torch.zeros(len(a), b.shape[1])
    for k in range(len(b)):
        total += a[:, k : k + 1] * b[k]
    return total


def tf32(x: Tensor) -> Tensor:
    """Ten bits of mantissa, rounded to nearest."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def kahan_sum(x: Tensor) -> Tensor:
    total, lost = torch.zeros(len(x)), torch.zeros(len(x))
    for column in x.t().contiguous():
        step = column - lost
        new = total + step
        lost = (new - total) - step
        total = new
    return total


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


# NaN, infinities, integers, indices, form


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


# Timed calls


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
