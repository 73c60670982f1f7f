"""A machine without files, memory or room voids a judgement; with them back, the next one is right."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.faults import stages
from tests.faults.traces import require_as_before, traces

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge


def _never_built() -> Submission:
    return submit(SCALE_MODEL, f"{SCALE_KERNEL}// {time.monotonic_ns()}\n")


@contextlib.contextmanager
def _limited(limit: int, value: int, pid: int = 0) -> Iterator[None]:
    soft, hard = resource.prlimit(pid, limit)
    resource.prlimit(pid, limit, (value, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, limit, (soft, hard))


@contextlib.contextmanager
def _free_descriptors(count: int) -> Iterator[None]:
    """Leave this process so many descriptors, and no more."""
    top = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir()) + 1
    taken: list[int] = []
    try:
        with _limited(resource.RLIMIT_NOFILE, top):
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.dup(0))
            with _limited(resource.RLIMIT_NOFILE, top + count):
                yield
    finally:
        for descriptor in taken:
            os.close(descriptor)


@pytest.fixture
def standing_judge(
    own_judge: Judge, scale_task: Task, scale_submission: Submission
) -> Iterator[Judge]:
    """It is right before and after, and leaves nothing behind."""
    assert own_judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
    before = traces()
    yield own_judge
    after = own_judge.verify(scale_task, scale_submission)
    assert after.outcome is Outcome.CORRECT, after.summary
    require_as_before(before)


def test_without_descriptors_nothing_is_judged_and_nothing_raises(
    standing_judge: Judge, scale_task: Task
) -> None:
    outcomes = []
    for count in range(12):
        with _free_descriptors(count):
            outcomes.append(standing_judge.verify(scale_task, _never_built()).outcome)
    assert set(outcomes) <= {Outcome.MACHINE_ERROR, Outcome.CORRECT}
    assert outcomes[0] is Outcome.MACHINE_ERROR


@pytest.mark.parametrize("num_bytes", [0, 100])
def test_where_no_file_can_grow_the_machine_is_at_fault(
    num_bytes: int, standing_judge: Judge, scale_task: Task
) -> None:
    with _limited(resource.RLIMIT_FSIZE, num_bytes):
        findings = standing_judge.verify(scale_task, _never_built())
    assert findings.outcome is Outcome.MACHINE_ERROR, findings.summary
    assert "cannot be written" in findings.summary


def test_a_reference_without_memory_is_the_machines_fault(
    standing_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    pid = stages.reference(standing_judge)
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    with _limited(resource.RLIMIT_AS, pages * resource.getpagesize() + (1 << 16), pid):
        findings = standing_judge.verify(scale_task, scale_submission)
    assert findings.outcome is Outcome.MACHINE_ERROR, findings.summary
    assert "memory" in findings.summary


def test_a_zygote_that_can_open_nothing_is_the_machines_fault(
    standing_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    with _limited(resource.RLIMIT_NOFILE, 8, stages.zygote(standing_judge)):
        findings = standing_judge.verify(scale_task, scale_submission)
    assert findings.outcome is Outcome.MACHINE_ERROR, findings.summary


def test_a_submission_without_memory_is_told_so(standing_judge: Judge, scale_task: Task) -> None:
    greedy = submit(
        SCALE_MODEL.replace("torch.empty_like(x)", "torch.empty(1 << 40)[:x.numel()].view_as(x)"),
        SCALE_KERNEL,
    )
    findings = standing_judge.verify(scale_task, greedy)
    assert findings.outcome is Outcome.RUNTIME_ERROR, findings.summary
    assert "alloc" in findings.summary


def test_a_clock_that_jumps_changes_nothing(
    own_judge: Judge, scale_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = iter([0.0, 1e9, -1e9, 3600.0, -3600.0] * 10_000)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    verdict = own_judge.judge(scale_task, _never_built())
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
    assert 0.0 < verdict.judge_s < 60.0
