"""No right model is accused for how its Python looks."""

from __future__ import annotations

import pytest
from tests.honest.models import MODELS

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("name", MODELS)
def test_a_right_model_is_right_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    findings = judge.verify(scale_task, MODELS[name])
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()
