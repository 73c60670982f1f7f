"""Every complete example in a skill is built and run on each device that the skill names."""

from __future__ import annotations

import pytest
from tests.skills.examples import example, task_of

from cuda_gym.core import Outcome
from cuda_gym.envs.skills import skills
from cuda_gym.judge.judge import Judge

WITH_EXAMPLE = [name for name in skills().skills if example(name) is not None]


@pytest.mark.parametrize("skill", WITH_EXAMPLE)
def test_the_example_is_right_and_its_memory_clean_on_cpu(skill: str, judge: Judge) -> None:
    task, submission = task_of(skill), example(skill)
    assert submission is not None
    for check in ("memory", "values"):
        findings = judge.verify(task, submission, check=check)
        assert findings.outcome is Outcome.CORRECT, findings.summary
        assert not findings.memory
        assert not findings.diagnostics
    assert findings.build is not None
    assert {kernel.mode for kernel in findings.build.kernels} <= {"loop", "phases"}
