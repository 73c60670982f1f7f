"""No right kernel is accused for how its CUDA C++ looks."""

from __future__ import annotations

import pytest
from tests.honest.kernels import KERNELS

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_right_though_it(name: str, judge: Judge, scale_task: Task) -> None:
    findings = judge.verify(scale_task, KERNELS[name])
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()
