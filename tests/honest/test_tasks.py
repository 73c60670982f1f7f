"""Where the right answer itself looks odd, a right submission is right."""

from __future__ import annotations

import pytest
from tests.honest.tasks import CASES, WEAK_BASELINE

from cuda_gym.core.findings import Outcome
from cuda_gym.judge.judge import Judge


@pytest.mark.parametrize("name", CASES)
def test_a_right_submission_is_right_though_it(name: str, judge: Judge) -> None:
    findings = judge.verify(CASES[name].task, CASES[name].submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()


@pytest.mark.slow
def test_a_kernel_that_is_very_fast_since_its_baseline_is_weak_is_paid(judge: Judge) -> None:
    verdict = judge.judge(WEAK_BASELINE.task, WEAK_BASELINE.submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.speedup is not None
    assert verdict.speedup > 5.0
