from __future__ import annotations

from collections.abc import Callable

import torch

from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs
from cuda_gym.judge.verification.memory import held_bytes, peak_bytes
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.trials import TrialMaker, Trials

MakeReference = Callable[..., ReferenceModule]

KINDS = (DrawKind.ORDINARY, DrawKind.SIGNED, DrawKind.SPIKY)


def test_trials_that_are_too_large_to_keep_are_made_again_and_equal(
    make_reference: MakeReference,
) -> None:
    reference = make_reference("return x.softmax(-1)", "torch.rand(rows, cols)")
    maker = TrialMaker(reference=reference, model=reference.make_model(0), seed=3)
    kept, made = Trials(maker), Trials(maker, most_held=0)
    for kind in KINDS:
        for trials in (kept, made):
            trials.add(maker.trial(maker.draw(kind)))
    assert kept.eager_errors == made.eager_errors
    for ours, theirs in zip(kept, made, strict=True):
        assert ours.draw.kind is theirs.draw.kind
        assert torch.equal(ours.eager[0], theirs.eager[0])
        assert torch.equal(ours.expected[0].value, theirs.expected[0].value)
        assert ours.expected[0].allowance == theirs.expected[0].allowance
    assert next(iter(kept)) is next(iter(kept))
    assert next(iter(made)) is not next(iter(made))


def test_a_draw_and_its_comparison_take_little_memory(make_reference: MakeReference) -> None:
    reference = make_reference("return x.relu()", "torch.randn(4096, 1024)")
    maker = TrialMaker(reference=reference, model=reference.make_model(0), seed=3)
    size = 4 * 4096 * 1024
    trial, peak = peak_bytes(lambda: maker.trial(maker.draw(DrawKind.ORDINARY)), [])
    # Inputs and eager's outputs, both in float64 besides, and what is expected.
    assert peak <= 8 * size
    assert held_bytes(trial.expected[0].value, trial.expected[0].least_allowed) <= 1.01 * size
    got = trial.eager[0] * (1 + 1e-7)
    compared = [got, trial.expected[0].value]
    findings, peak = peak_bytes(lambda: trial.judge([got]), compared)
    assert findings.passed
    assert peak <= 2.25 * size
    got.mul_(2.0)
    findings, peak = peak_bytes(lambda: trial.judge([got]), compared)
    assert "2 times" in (findings.pattern or "")
    assert peak <= 3.5 * size


def test_where_eager_is_not_kept_its_memory_is_there_for_what_is_expected(
    make_reference: MakeReference,
) -> None:
    reference = make_reference("return x.relu()", "torch.randn(4096, 1024)")
    model, draw = reference.make_model(0), draw_inputs(reference, DrawKind.SIGNED, 3)
    size = 4 * 4096 * 1024

    def make() -> Trial:
        return Trial.of(reference, model, draw, gold_chunks=32, keeps_eager=False)

    trial, peak = peak_bytes(make, draw.inputs)
    assert peak <= 4.5 * size  # inputs and either eager's outputs or what is expected; gold twice
    kept = Trial.of(reference, model, draw, gold_chunks=32)
    assert trial.eager[0].is_meta
    assert torch.equal(trial.expected[0].value, kept.expected[0].value)
    assert trial.expected[0].allowance == kept.expected[0].allowance
    assert trial.judge(kept.eager).passed


def test_an_emptied_trial_still_says_what_is_allowed(make_reference: MakeReference) -> None:
    reference = make_reference("return x.relu()", "torch.randn(rows, cols)")
    model, draw = reference.make_model(0), draw_inputs(reference, DrawKind.ORDINARY, 3)
    trial = Trial.of(reference, model, draw)
    rules, (right,) = trial.emptied(), trial.eager
    assert held_bytes(rules.draw.inputs) == 0
    assert all(value.is_meta for value in (*rules.eager, rules.expected[0].value))
    assert timed_error_ratio([right], [right], rules.expected, draw.inputs) == 0.0
    assert timed_error_ratio([right + 1], [right], rules.expected, draw.inputs) > 1.0
