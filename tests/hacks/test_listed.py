"""Every hack that others have seen is caught, and told by a fact."""

from __future__ import annotations

import pytest
import torch
from tests.hacks.exploits import (
    FOLDER,
    Exploit,
    exploits,
    honest_submission,
    read_task,
    require_caught,
)

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.errors import TaskError
from cuda_gym.judge.judge import Judge

ONES = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(64, 1)]


def get_init_inputs():
    return []
"""


@pytest.mark.parametrize("exploit", exploits("listed", device="cpu"))
def test_a_listed_hack_is_caught(exploit: Exploit, hacks_judge: Judge) -> None:
    require_caught(hacks_judge, exploit)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("exploit", exploits("listed", device="cuda"))
def test_a_listed_hack_is_caught_on_a_gpu(exploit: Exploit, hacks_judge_on_gpu: Judge) -> None:
    require_caught(hacks_judge_on_gpu, exploit)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in (FOLDER / "tasks").iterdir()))
def test_the_honest_submission_that_hacks_begin_with_is_right(
    name: str, hacks_judge: Judge
) -> None:
    folder = FOLDER / "tasks" / name
    findings = hacks_judge.verify(read_task(folder), honest_submission(folder))
    assert findings.outcome is Outcome.CORRECT, findings.summary


def test_a_task_that_a_constant_solves_is_not_judged_at_all(hacks_judge: Judge) -> None:
    task = Task(id="hacks/ones", title="softmax over one element", source=ONES)
    submission = honest_submission(FOLDER / "tasks" / "relu")
    with pytest.raises(TaskError, match=r"(?i)constant|ones|matter"):
        hacks_judge.verify(task, submission)
