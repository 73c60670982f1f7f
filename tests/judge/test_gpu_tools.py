"""compute-sanitizer and Nsight Compute look into submissions on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.conftest import QUICK, SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.feedback.profile_page import describe_verdict
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling.counters import why_no_counters
from cuda_gym.judge.toolchains.sanitizer import why_no_sanitizer

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]
sanitizer = pytest.mark.skipif(bool(why_no_sanitizer()), reason=why_no_sanitizer())
ncu = pytest.mark.skipif(bool(why_no_counters()), reason=why_no_counters())

BODY = "out[row * columns + column] = expf(x[row * columns + column]) * weight[column];"
LINE = 1 + next(i for i, text in enumerate(SCALE_KERNEL.splitlines()) if BODY in text)


@pytest.fixture(scope="module")
def cuda_judge(cache_folder: Path) -> Iterator[Judge]:
    judge = Judge(Device("cuda"), JudgeConfig(timing=QUICK, folder=cache_folder))
    yield judge
    judge.close()


def check(judge: Judge, task: Task, submission: Submission) -> Findings:
    return judge.verify(task, submission, check="memory")


@sanitizer
def test_a_right_submission_is_clean_under_every_tool(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    findings = check(cuda_judge, scale_task, scale_submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()


@sanitizer
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"{BODY} if (row == gridDim.y - 1 && column == columns - 1) out[gridDim.y * columns] = 1;", "out of bounds"),
        (f"{BODY} if (column == 0) out[0] = *(const float*)((const char*)x + 2);", "misaligned access"),
        (f"__shared__ int who; who = column; {BODY} if (who < 0) out[0] = 1;", "data race"),
        ("out[row * columns + column] += expf(x[row * columns + column]) * weight[column];", "uninitialised read"),
        (f"{BODY} if (column == 0) out[0] = x[-1];", "out of bounds"),
    ],
)  # fmt: skip
def test_a_bug_is_named_with_its_line(
    cuda_judge: Judge, scale_task: Task, body: str, kind: str
) -> None:
    submission = submit(SCALE_MODEL, SCALE_KERNEL.replace(BODY, f"{{ {body} }}"))
    findings = check(cuda_judge, scale_task, submission)
    assert findings.outcome is Outcome.WRONG, findings.summary
    assert findings.memory is not None
    assert {finding.kind for finding in findings.memory} == {kind}
    assert {finding.kernel for finding in findings.memory} == {"scale_kernel"}
    places = {(side.file, side.line) for found in findings.memory for side in found.sides}
    assert places == {("kernels/k0.cu", LINE)}


@ncu
def test_a_profile_with_counters_says_what_binds_the_kernel(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    verdict = cuda_judge.judge(scale_task, scale_submission, counters=True)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.profile is not None
    assert verdict.profile.no_counters == ""
    [kernel] = verdict.profile.counters
    assert (kernel.name, kernel.launches) == ("scale_kernel", 1)
    assert 0.5 < kernel.duration_us < 1000.0
    assert kernel.block_threads == 128
    assert kernel.registers
    for known in (kernel.dram_percent, kernel.l2_hit_percent, kernel.load_efficiency_percent):
        assert known is not None
        assert 0.0 <= known <= 100.0
    page = describe_verdict(verdict, scale_submission)
    assert "Counters of one call" in page


@pytest.mark.alone
def test_a_judgement_leaves_nothing_behind_in_the_memory_of_the_gpu(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    check(cuda_judge, scale_task, scale_submission)  # what stays is made by the first one
    free, _ = torch.cuda.mem_get_info()
    check(cuda_judge, scale_task, scale_submission)
    assert torch.cuda.mem_get_info()[0] >= free - (384 << 20)
