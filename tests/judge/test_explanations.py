"""What a real judgement says of a wrong kernel names the mistake that was made."""

from __future__ import annotations

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.judge.judge import Judge


def kernel_with(old: str, new: str) -> Submission:
    assert old in SCALE_KERNEL
    return submit(SCALE_MODEL, SCALE_KERNEL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(columns + 127) / 128, rows", "columns / 128, rows",
         "they are NaN: never written, or computed from memory that was never written; only the last"),
        (" * weight[column];", ";", "weight is left out: expected is got * weight"),
    ],
)  # fmt: skip
def test_a_real_wrong_kernel_is_told_by_its_mistake(
    judge: Judge, scale_task: Task, old: str, new: str, words: str
) -> None:
    submission = kernel_with(old, new)
    page = describe_findings(judge.verify(scale_task, submission), submission)
    assert words in page
    assert len(page) < 1200
