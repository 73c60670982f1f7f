from __future__ import annotations

from collections.abc import Callable

import torch

from cuda_gym.judge.verification.gold import GoldKind, IndexOutput
from cuda_gym.judge.verification.inputs import Draw, DrawKind
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

MakeReference = Callable[..., ReferenceModule]
MakeTrial = Callable[..., Trial]


def test_eager_passes_its_own_trial(make_trial: MakeTrial) -> None:
    trial = make_trial("return x.softmax(-1)", "torch.randn(64, 256)")
    assert trial.gold is GoldKind.FLOAT64
    assert trial.is_sound
    assert trial.is_finite
    findings = trial.judge(trial.eager)
    assert findings.passed
    assert findings.name == "ordinary"
    assert findings.error_ratio is not None
    assert findings.error_ratio <= 1 / 16, "sixteen times eager's own error is allowed"


def test_index_outputs_are_judged_by_the_values_there(make_reference: MakeReference) -> None:
    reference = make_reference("return x.argmax(1)", "torch.rand(2, 64)")
    x = torch.zeros(2, 64)
    x[0, [3, 9]] = 1.0
    x[1, 5] = 1.0
    draw = Draw(kind=DrawKind.ORDINARY, inputs=[x], description="ties")
    rule = IndexOutput(output=0, tensor=0, dim=1, keepdim=False)
    trial = Trial.of(reference, reference.make_model(0), draw, [rule])
    assert trial.judge([torch.tensor([3, 5])]).passed
    assert trial.judge([torch.tensor([9, 5])]).passed, "a tie"
    wrong = trial.judge([torch.tensor([4, 5])])
    assert wrong.num_wrong == 1
    assert "point at" in wrong.reason
    assert "outside of 0..63" in trial.judge([torch.tensor([64, 5])]).reason
