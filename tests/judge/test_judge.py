"""A right submission gets all its parts, a clock that lies is seen, and what was lost is started again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, SCALE_TASK, submit
from tests.judge.cpu_cases import CALL, FORWARD, kernel_with, model_with

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import BadTask, NotAdmitted
from cuda_gym.judge.judge import Judge, JudgeConfig, open_judge
from cuda_gym.judge.sandbox.outside_memory import OutsideMemory


def test_a_right_submission_gets_a_verdict_with_all_its_parts(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    verdict = judge.judge(scale_task, scale_submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
    assert verdict.timing.speedup_low <= verdict.timing.speedup <= verdict.timing.speedup_high
    assert verdict.timing.eager_us is not None
    assert verdict.fingerprint is not None
    assert verdict.fingerprint.task == scale_task.hash
    assert {"closed-code", "read-outputs"} <= set(verdict.fingerprint.isolation.split("+"))
    assert "g++" in verdict.fingerprint.toolchain or "clang" in verdict.fingerprint.toolchain
    assert len(verdict.findings.draws) >= 5
    assert {"ordinary", "smaller shape", "larger shape"} <= {d.name for d in verdict.findings.draws}
    assert verdict.seed is not None


def test_where_outputs_may_not_be_read_they_are_copied_and_the_verdict_is_not_ranked(
    judge: Judge,
    scale_task: Task,
    scale_submission: Submission,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OutsideMemory, "of", lambda _pidfd: None)
    verdict = judge.judge(scale_task, scale_submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
    assert verdict.fingerprint is not None
    assert "read-outputs" not in verdict.fingerprint.isolation
    assert "read-outputs" in (verdict.unranked or "")


def test_kernels_without_a_launcher_get_a_verdict(judge: Judge, scale_task: Task) -> None:
    kernel = SCALE_KERNEL.partition('extern "C"')[0]
    launch = (
        'launch = cuda_extension.kernel("scale_kernel")[((x.shape[1] + 127) // 128, x.shape[0]), 128]\n'
        "out = torch.empty_like(x)\nlaunch(out, x, self.weight, x.shape[1])\nreturn out"
    )
    model = model_with(launch).text("model_new.py")
    verdict = judge.judge(scale_task, submit(model or "", kernel))
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.findings.memory == ()
    assert verdict.findings.diagnostics == ()


def test_verify_says_right_without_a_time(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    findings = judge.verify(scale_task, scale_submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert all(draw.passed for draw in findings.draws)


def test_compile_alone_runs_nothing_and_has_no_outcome(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    findings = judge.compile(scale_task, scale_submission)
    assert findings.outcome is None
    assert findings.build is not None
    assert [kernel.name for kernel in findings.build.kernels] == ["scale_kernel"]


def test_a_seed_replays_the_same_draws(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    one, two = (judge.judge(scale_task, scale_submission, seed=7) for _ in range(2))
    assert one.findings.draws == two.findings.draws


def test_gigabytes_of_output_are_cut_and_do_not_block(judge: Judge, scale_task: Task) -> None:
    flood = "for _ in range(3000):\n    print('x' * 100000)"
    findings = judge.verify(
        scale_task, model_with(f"{flood}\n{FORWARD.strip()}\n{CALL.strip()}\nreturn out")
    )
    assert findings.outcome is not None
    assert len(findings.output) < 10_000
    assert "bytes ...]" in findings.output


def test_what_a_submission_prints_is_told(judge: Judge, scale_task: Task) -> None:
    submission = model_with(f"print('hello')\n{FORWARD.strip()}\n{CALL.strip()}\nreturn out")
    assert "hello" in judge.verify(scale_task, submission).output


def test_a_wrong_submission_is_never_timed(judge: Judge, scale_task: Task) -> None:
    verdict = judge.judge(scale_task, kernel_with("* weight[column]", "* 2.0f"))
    assert verdict.outcome is Outcome.WRONG
    assert verdict.timing is None
    assert verdict.speedup is None


def test_an_output_kept_from_an_earlier_call_is_found_in_the_timed_calls(
    judge: Judge, scale_task: Task
) -> None:
    submission = model_with(
        "self.calls = getattr(self, 'calls', 0) + 1\n"
        "if self.calls > 16 and x.shape == self.kept.shape:\n"
        "    out = torch.empty_like(x)\n"
        "    cuda_extension.scale(out, self.kept, self.weight, x.shape[0], x.shape[1])\n"
        "    return out\n"
        f"{FORWARD.strip()}\n{CALL.strip()}\nself.kept = x\nreturn out"
    )
    verdict = judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.WRONG
    assert "timed call" in verdict.summary


def test_a_patched_clock_changes_nothing(judge: Judge, scale_task: Task) -> None:
    submission = model_with(
        f"{FORWARD.strip()}\n{CALL.strip()}\nreturn out",
        top="import time\n_clock = time.perf_counter_ns\n"
        "time.perf_counter_ns = lambda: _clock() // 100000\n",
    )
    verdict = judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    assert verdict.timing is not None
    assert verdict.timing.time_us > 0.5, "a hundred thousandth of a call is less"


def test_a_clock_that_lies_from_inside_the_harness_is_seen_by_the_judges_own(
    judge: Judge, scale_task: Task
) -> None:
    submission = model_with(
        f"time.sleep(0.01)\n{FORWARD.strip()}\n{CALL.strip()}\nreturn out",
        top="import itertools, sys, time\n_ticks = itertools.count(0, 1000)\n"
        "_harness = sys.modules['cuda_gym.judge.sandbox.candidate'].Candidate\n"
        "_harness._call.__defaults__ = (lambda: next(_ticks),)\n",
    )
    verdict = judge.judge(scale_task, submission)
    if verdict.timing is None:
        assert verdict.outcome is Outcome.REFUSED
        assert "the judge's own clock" in verdict.summary
    else:  # on a busy machine nobody is refused, but the time is credited
        assert verdict.timing.time_us > 5000.0


def test_many_threads_share_one_judge(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    outcomes: list[Outcome | None] = []

    def verify() -> None:
        outcomes.append(judge.verify(scale_task, scale_submission).outcome)

    threads = [threading.Thread(target=verify) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [Outcome.CORRECT] * 4


def test_a_task_that_cannot_be_judged_raises_and_says_why(judge: Judge) -> None:
    constant = SCALE_TASK.replace("torch.exp(x) * self.weight", "x * 0 + self.weight * 0")
    task = Task(id="test/constant", title="nothing", source=constant)
    with pytest.raises(NotAdmitted):
        judge.verify(task, submit(SCALE_MODEL, SCALE_KERNEL))
    broken = Task(id="test/broken", title="broken", source="import torch\n")
    with pytest.raises(BadTask):
        judge.verify(broken, submit(SCALE_MODEL, SCALE_KERNEL))


def test_a_lost_reference_is_started_again(
    cache_folder: Path, scale_task: Task, scale_submission: Submission
) -> None:
    judge = Judge(Device("cpu"), JudgeConfig(folder=cache_folder))
    try:
        assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
        with judge._pool.reference(scale_task) as reference:
            reference.worker._process.kill()
            reference.worker._process.wait()
        assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
        zygote = judge._pool._zygote
        assert zygote is not None
        zygote._process.kill()
        zygote._process.wait()
        assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
    finally:
        judge.close()


def test_a_device_has_one_judge_in_a_process() -> None:
    assert open_judge("cpu") is open_judge("auto")
    with pytest.raises(ValueError, match="no device 'gpu'"):
        open_judge("gpu")
