"""What the memory check finds in submissions, and what it leaves alone."""

from __future__ import annotations

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge

BODY = "out[row * columns + column] = expf(x[row * columns + column]) * weight[column];"


def kernel_with(body: str) -> Submission:
    assert BODY in SCALE_KERNEL
    return submit(SCALE_MODEL, SCALE_KERNEL.replace(BODY, f"{{ {body} }}"))


def host_code_with(line: str) -> Submission:
    """A line of host code behind the launch."""
    head, launch, tail = SCALE_KERNEL.rpartition(");")
    return submit(SCALE_MODEL, f"{head}{launch} {line}{tail}")


def check(judge: Judge, task: Task, submission: Submission) -> Findings:
    return judge.verify(task, submission, check="memory")


def test_a_right_submission_is_clean(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    findings = check(judge, scale_task, scale_submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"__shared__ int who; who = column; {BODY} if (who < 0) out[0] = 1;", "data race"),
        (f"{BODY} if (row == gridDim.y - 1 && column == columns - 1) out[gridDim.y * columns] = 1;", "out of bounds"),
        (f"__shared__ float s[2]; if (s[1] == 7.0f) return; {BODY}", "uninitialised read"),
        ("out[row * columns + column] += expf(x[row * columns + column]) * weight[column];", "uninitialised read"),
    ],
)  # fmt: skip
def test_a_bug_is_named_with_its_line(judge: Judge, scale_task: Task, body: str, kind: str) -> None:
    findings = check(judge, scale_task, kernel_with(body))
    assert findings.outcome is Outcome.WRONG
    assert findings.memory is not None
    assert kind in {finding.kind for finding in findings.memory}
    line = next(i for i, text in enumerate(SCALE_KERNEL.splitlines(), start=1) if BODY in text)
    for finding in findings.memory:
        assert {(side.file, side.line) for side in finding.sides} == {("kernels/k0.cu", line)}


def test_a_maximum_that_begins_with_anything_is_wrong(judge: Judge, scale_task: Task) -> None:
    body = (
        "float most; for (int i = 0; i < 2; ++i) most = fmaxf(most, x[row * columns + column]); "
        "out[row * columns + column] = expf(most) * weight[column];"
    )
    findings = judge.verify(scale_task, kernel_with(body))
    assert findings.outcome is Outcome.WRONG, findings.summary
    assert "unset variable" in findings.summary
    assert "`most`" in findings.summary


def test_host_code_that_writes_an_output_is_refused(judge: Judge, scale_task: Task) -> None:
    findings = check(judge, scale_task, host_code_with("out[1] += 1.0f;"))
    assert findings.outcome is Outcome.REFUSED
    assert findings.memory is not None
    assert {finding.kind for finding in findings.memory} == {"host access"}


def test_an_output_that_no_kernel_writes_is_refused(judge: Judge, scale_task: Task) -> None:
    findings = check(judge, scale_task, kernel_with(f"if (row == 0) return; {BODY}"))
    assert findings.outcome is Outcome.REFUSED
    assert "written by no kernel" in str(findings.memory)


def test_a_race_is_wrong_in_a_judgement_although_its_outputs_are_right(
    judge: Judge, scale_task: Task
) -> None:
    body = f"__shared__ int who; who = column; {BODY}"
    verdict = judge.judge(scale_task, kernel_with(body))
    assert verdict.outcome is Outcome.WRONG
    assert "data race" in verdict.findings.summary
    assert all(draw.passed for draw in verdict.findings.draws)
    assert verdict.timing is None


def test_an_unknown_check_is_refused_by_name(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    with pytest.raises(ValueError, match="no check 'speed'"):
        judge.verify(scale_task, scale_submission, check="speed")


def test_an_output_that_the_runtime_fills_is_written(judge: Judge, scale_task: Task) -> None:
    source = SCALE_KERNEL.replace(
        "    scale_kernel<<<", "    cudaMemsetAsync(out, 0, (size_t)rows * columns * 4, stream);\n    scale_kernel<<<"
    ).replace(BODY, f"if (row > 0) {BODY}")  # fmt: skip
    findings = check(judge, scale_task, submit(SCALE_MODEL, source))
    assert findings.memory == ()


def test_verify_explains_a_crash_by_what_the_memory_check_finds(
    judge: Judge, scale_task: Task
) -> None:
    findings = judge.verify(scale_task, kernel_with(f"{BODY} x = nullptr; {BODY}"))
    assert findings.outcome is Outcome.RUNTIME_ERROR
    assert "The submission crashed" in findings.summary
    assert "out of bounds in kernel scale_kernel at kernels/k0.cu:4" in findings.summary
    assert findings.memory
    assert "null pointer" in findings.memory[0].text


def test_verify_explains_wrong_values_and_keeps_the_outcome(judge: Judge, scale_task: Task) -> None:
    findings = judge.verify(scale_task, kernel_with(f"if (row == 0) return; {BODY}"))
    assert findings.outcome is Outcome.WRONG
    assert findings.summary.startswith("Wrong on")
    assert "written by no kernel" in str(findings.memory)


def test_a_race_is_wrong_in_verify_although_its_outputs_are_right(
    judge: Judge, scale_task: Task
) -> None:
    findings = judge.verify(scale_task, kernel_with(f"__shared__ int who; who = column; {BODY}"))
    assert findings.outcome is Outcome.WRONG
    assert findings.summary.startswith("The memory check found: data race")
    assert all(draw.passed for draw in findings.draws)
