"""A judge by script: it reads its judgement off the first lines of `model_new.py`.

# judge: correct 1.5      right, and 1.5 times as fast as torch.compile, with the judge's noise
# judge: wrong            (or any other outcome)
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.findings import (
    Build,
    Diagnostic,
    DrawFindings,
    Findings,
    KernelResources,
    Mismatch,
    Outcome,
    Severity,
)
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Fingerprint, Telemetry, Timing, Verdict

SOURCE = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns):
        super(Model, self).__init__()
        self.bias = nn.Parameter(torch.zeros(columns))

    def forward(self, x):
        return torch.relu(x + self.bias)


def get_inputs():
    return [torch.rand(4, 8)]


def get_init_inputs():
    return [8]
"""


class ScriptedJudge:
    """Implements `SessionJudge` from a script; counts what it is asked."""

    def __init__(self, *, noise: float = 0.0, seed: int = 0) -> None:
        self.device = Device.parse("cpu")
        self.compiled: list[Submission] = []
        self.verified: list[Submission] = []
        self.judged: list[Submission] = []
        self.warmed: list[Task] = []
        self.failures = 0
        """How many of the next calls end in a machine error."""
        self._noise = noise
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def warm(self, task: Task) -> None:
        self.warmed.append(task)

    def compile(self, task: Task, submission: Submission) -> Findings:
        with self._lock:
            self.compiled.append(submission)
            outcome = self._outcome(submission)
            return findings_of(outcome if outcome in (MACHINE, COMPILE) else None)

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        with self._lock:
            self.verified.append(submission)
            outcome = (
                Outcome.UNSUPPORTED_ON_DEVICE if check == "memory" else self._outcome(submission)
            )
            return findings_of(outcome)

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        with self._lock:
            self.judged.append(submission)
            outcome = self._outcome(submission)
            speedup = script(submission)[1] * (1 + self._noise * self._random.gauss(0, 1))
            return verdict_of(outcome, speedup, submission=submission, task=task)

    def close(self) -> None:
        raise AssertionError("a shared judge is not closed by a session")

    def _outcome(self, submission: Submission) -> Outcome:
        if self.failures > 0:
            self.failures -= 1
            return MACHINE
        return script(submission)[0]


MACHINE = Outcome.MACHINE_ERROR
COMPILE = Outcome.COMPILE_ERROR


def script(submission: Submission) -> tuple[Outcome, float]:
    found = re.search(r"# judge: (\w+)(?: ([\d.]+))?", submission.text("model_new.py") or "")
    if found is None:
        return Outcome.RUNTIME_ERROR, 1.0
    return Outcome(found[1]), float(found[2] or 1.0)


def findings_of(outcome: Outcome | None) -> Findings:
    kernel = KernelResources(name="relu_kernel", shared_bytes=1024, mode="loop")
    build = Build(
        key="k", library="/l.so", toolchain="g++ 12", build_s=0.4, cached=False, kernels=(kernel,)
    )
    if outcome is COMPILE:
        error = Diagnostic(
            severity=Severity.ERROR,
            message="'y' was not declared",
            file="kernels/relu.cu",
            line=2,
            column=5,
        )
        return Findings(
            outcome=outcome, summary="1 error in kernels/relu.cu.", diagnostics=(error,)
        )
    if outcome is Outcome.WRONG:
        first = Mismatch(index=(0, 7), got=1.5, expected=1.0, allowed=1e-6)
        worst = Mismatch(index=(3, 7), got=9.0, expected=1.0, allowed=1e-6)
        wrong = DrawFindings(
            name="ordinary",
            description="x: 4 x 8, normal",
            passed=False,
            reason="values differ",
            num_elements=32,
            num_wrong=4,
            first=first,
            worst=worst,
            pattern="every 8th element",
            error_ratio=8e6,
        )
        right = DrawFindings(
            name="spiky", description="x: 4 x 8, spikes", passed=True, error_ratio=0.2
        )
        return Findings(
            outcome=outcome, summary="Wrong on 1 of 2.", build=build, draws=(right, wrong)
        )
    right = DrawFindings(name="ordinary", description="x: 4 x 8", passed=True, error_ratio=0.5)
    summary = {None: "It compiles.", Outcome.CORRECT: "Right on all draws."}.get(
        outcome, f"It ended as {outcome.value if outcome else ''}."
    )
    draws = (right,) if outcome is Outcome.CORRECT else ()
    return Findings(outcome=outcome, summary=summary, build=build, draws=draws)


def verdict_of(
    outcome: Outcome,
    speedup: float = 1.0,
    *,
    eager_us: float | None = 120.0,
    submission: Submission | None = None,
    task: Task | None = None,
) -> Verdict:
    timing = Timing(
        time_us=100.0 / speedup,
        compile_us=100.0,
        speedup=speedup,
        speedup_low=speedup * 0.98,
        speedup_high=speedup * 1.02,
        num_blocks=8,
        num_calls=200,
        timer="wall",
        eager_us=eager_us,
    )
    fingerprint = Fingerprint(
        judge="1",
        task="t",
        device="a processor",
        toolchain="g++",
        torch="2",
        compile_mode="default",
        timer="wall",
        transport="memfd",
        isolation="none",
    )
    return Verdict(
        outcome=outcome,
        task_id="test/relu" if task is None else task.id,
        submission="none" if submission is None else submission.hash,
        device="cpu",
        findings=findings_of(outcome),
        fingerprint=fingerprint,
        timing=timing if outcome is Outcome.CORRECT else None,
        telemetry=Telemetry(load=0.5),
        seed=7,
    )


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge()


@pytest.fixture
def make_judge() -> Callable[..., ScriptedJudge]:
    return ScriptedJudge


@pytest.fixture
def make_verdict() -> Callable[..., Verdict]:
    return verdict_of


@pytest.fixture
def make_findings() -> Callable[[Outcome | None], Findings]:
    return findings_of


@pytest.fixture
def task() -> Task:
    return Task(id="test/relu", source=SOURCE, title="Bias and ReLU")
