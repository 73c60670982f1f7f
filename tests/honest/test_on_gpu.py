"""No right submission is accused on a GPU: what is right on `cpu`, and what only a GPU can run."""

from __future__ import annotations

import pytest
import torch
from tests.honest.cuda_habits import CUDA_HABITS
from tests.honest.gpu_submissions import ON_A_GPU
from tests.honest.kernels import KERNELS
from tests.honest.mixed_tasks import MIXED_CASES
from tests.honest.models import MODELS
from tests.honest.python_habits import PYTHON_HABITS
from tests.honest.tasks import CASES, WEAK_BASELINE

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.judge.judge import Judge

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

_SUBMISSIONS = ON_A_GPU | KERNELS | MODELS | CUDA_HABITS | PYTHON_HABITS
_CASES = CASES | MIXED_CASES


@pytest.mark.parametrize("name", _SUBMISSIONS)
def test_a_right_submission_is_timed_though_it(
    name: str, cuda_judge: Judge, scale_task: Task
) -> None:
    verdict = cuda_judge.judge(scale_task, _SUBMISSIONS[name])
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None


@pytest.mark.parametrize("name", _CASES)
def test_a_right_answer_is_right_though_it(name: str, cuda_judge: Judge) -> None:
    verdict = cuda_judge.judge(_CASES[name].task, _CASES[name].submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary


def test_a_kernel_that_is_very_fast_since_its_baseline_is_weak_is_paid(cuda_judge: Judge) -> None:
    verdict = cuda_judge.judge(WEAK_BASELINE.task, WEAK_BASELINE.submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.speedup is not None
    assert verdict.speedup > 1.5
