"""What harms, and what is bad, gets its outcome on a GPU, and the next judgement is none the worse."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.judge.cuda_cases import (
    CALL,
    OUT,
    RUN_S,
    SUBMISSIONS,
    kernel,
    memory_info,
    model_with,
    told,
)

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]


@pytest.fixture
def after(cuda_judge: Judge, scale_task: Task) -> Iterator[None]:
    """Afterwards a right submission is right, and processes and memory are what they were."""
    right = submit(SCALE_MODEL, SCALE_KERNEL)
    assert cuda_judge.judge(scale_task, right).outcome is Outcome.CORRECT
    processes, used_bytes = settled()
    yield
    verdict = cuda_judge.judge(scale_task, right)
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
    for _ in range(20):
        processes_now, used_now = settled()
        if processes_now <= processes and used_now <= used_bytes + (256 << 20):
            return
        time.sleep(0.25)
    pytest.fail(
        f"{processes_now} processes and {used_now >> 20} MiB of the GPU; "
        f"before, {processes} and {used_bytes >> 20}"
    )


def settled() -> tuple[int, int]:
    """How many processes descend from this one, and the bytes of the GPU that anybody uses."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, _, rest = stat.read_text().partition(" (")
        except OSError:
            continue
        state, parent = rest.rpartition(") ")[2].split()[:2]
        if state != "Z":
            parents[int(pid)] = int(parent)
    ours = {int(Path("/proc/self").resolve().name)}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    free, total = memory_info()
    return len(ours) - 1, total - free


HARMFUL = {
    "endless": (kernel("endless"), {"timeout"}),
    "endless_on_the_host": (kernel("endless_on_the_host"), {"timeout"}),
    "illegal_access": (kernel("illegal_access"), {"runtime_error"}),
    "takes_all_memory": (kernel("takes_all_memory"), {"refused", "runtime_error", "timeout"}),
    "takes_all_memory_in_python": (
        model_with("kept = []\nwhile True:\n    kept.append(torch.empty(1 << 28, device=x.device))"),
        {"refused", "runtime_error"},
    ),
    "never_returns": (model_with("while True:\n    pass"), {"timeout"}),
    "aborts": (model_with("import os\nos.abort()"), {"runtime_error"}),
}  # fmt: skip


@pytest.mark.alone
@pytest.mark.usefixtures("after")
@pytest.mark.parametrize("name", HARMFUL)
def test_harm_ends_in_time_and_leaves_nothing_behind(
    name: str, cuda_judge: Judge, scale_task: Task
) -> None:
    submission, outcomes = HARMFUL[name]
    start = time.monotonic()
    verdict = cuda_judge.judge(scale_task, submission)
    assert verdict.outcome.value in outcomes, told(verdict)
    assert time.monotonic() - start < 4 * RUN_S


def test_an_illegal_access_is_named(cuda_judge: Judge, scale_task: Task) -> None:
    verdict = cuda_judge.judge(scale_task, kernel("illegal_access"))
    assert "illegal memory access" in told(verdict)
    assert "memory" in verdict.summary


_AT_ONCE = "        cuda_extension.scale(self.weight, self.weight, self.weight, 1, 1)\n"
_ZEROS = "        self.weight = nn.Parameter(torch.zeros(columns))\n"
FAULTY = {
    "in prepare()": f"{SCALE_MODEL}\n    def prepare(self) -> None:\n{_AT_ONCE}",
    "while constructing ModelNew": SCALE_MODEL.replace(_ZEROS, _ZEROS + _AT_ONCE),
}


@pytest.mark.parametrize("place", FAULTY)
def test_a_fault_is_told_as_one_wherever_it_was_launched(
    place: str, cuda_judge: Judge, scale_task: Task
) -> None:
    wild = (SUBMISSIONS / "illegal_access.cu").read_text()
    findings = cuda_judge.verify(scale_task, submit(FAULTY[place], wild))
    assert findings.outcome is Outcome.RUNTIME_ERROR, told(findings)
    assert "The GPU stopped a kernel" in findings.summary
    assert "illegal memory access" in findings.summary
    assert place in findings.summary


def told_of(*words: str) -> str:
    """A pattern of a text that has all of these words, in any order."""
    return "".join(rf"(?=[\s\S]*{re.escape(word)})" for word in words)


BAD = {
    "wrong value": (kernel("wrong_value"), "wrong", "off"),
    "launches nothing": (
        submit(SCALE_MODEL, SCALE_KERNEL.replace(
            "scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);", "")),
        "wrong|refused", "NaN|0 kernels"),
    "hard-coded shape": (
        submit(SCALE_MODEL, SCALE_KERNEL.replace(
            "dim3 grid((columns + 127) / 128, rows)",
            "dim3 grid((columns + 127) / 128, rows < 96 ? rows : 96)")), "wrong", "shape"),
    "returns its input": (model_with("return x"), "wrong", "is an input"),
    "changes its input": (
        model_with(f"{CALL.replace('out, x', 'x, x')}{OUT}{CALL}return out"), "wrong", "changed"),
    "returns an alias of its input": (
        model_with(f"{CALL.replace('out, x', 'x, x')}return x.view(x.shape)"), "wrong", "input"),
    "returns another dtype": (
        model_with("return torch.empty_like(x, dtype=torch.float64)"), "wrong", "float64"),
    "returns another device": (
        model_with("return torch.empty(x.shape, device='cpu')"), "wrong", "cpu"),
    # arguments of a launcher
    "passes another dtype": (
        model_with("out = torch.empty_like(x, dtype=torch.float64)\n" + CALL + "return out"),
        "runtime_error", told_of("launcher scale", "out", "float64", "float32")),
    "passes a tensor of the host": (
        model_with("out = torch.empty(x.shape, device='cpu')\n" + CALL + "return out"),
        "runtime_error", told_of("launcher scale", "out", "cpu", "cuda")),
    "passes another stride": (
        model_with("out = torch.empty(x.shape[1], x.shape[0], device=x.device).t()\n" + CALL + "return out"),
        "runtime_error", told_of("launcher scale", "out", "contiguous")),
    "passes too few": (
        model_with(f"{OUT}cuda_extension.scale(out, x, self.weight)\nreturn out"),
        "runtime_error", told_of("scale", "columns")),
    # what the compiler and the driver say
    "no launcher": (kernel("without_extern_c"), "compile_error", 'extern "C"'),
    "two launchers of one name": (
        submit(SCALE_MODEL, SCALE_KERNEL, SCALE_KERNEL), "compile_error", "scale"),
    "too much shared memory": (kernel("too_much_shared_memory"), "runtime_error", "shared"),
    "too much static shared memory": (
        kernel("too_much_static_shared_memory"), "compile_error", "shared"),
    "a syntax error": (
        submit(SCALE_MODEL, SCALE_KERNEL.replace("int row", "int row row")),
        "compile_error", "kernels/k0.cu:3"),
    # computes elsewhere
    "torch's relu": (model_with("return torch.relu(x)"), "refused", "relu"),
    "a matrix product": (model_with("return x @ x.t()"), "refused", "."),
    "F.linear": (
        model_with("return torch.nn.functional.linear(x, x)"), "refused", "linear"),
    "takes it to the host": (model_with("return x.cpu()"), "refused", "."),
    "computes on the host": (
        model_with("return torch.exp(torch.empty(x.shape, device='cpu'))"), "refused", "exp"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_submission_gets_the_right_outcome_and_a_message(
    name: str, cuda_judge: Judge, scale_task: Task
) -> None:
    submission, outcome, words = BAD[name]
    verdict = cuda_judge.judge(scale_task, submission)
    assert re.fullmatch(outcome, verdict.outcome.value), told(verdict)
    assert re.search(words, told(verdict)), told(verdict)
    assert verdict.timing is None


def test_after_all_of_them_the_next_submission_is_judged(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    assert cuda_judge.judge(scale_task, scale_submission).outcome is Outcome.CORRECT


def test_a_launcher_without_a_stream_is_told_of_it(cuda_judge: Judge, scale_task: Task) -> None:
    findings = cuda_judge.compile(scale_task, kernel("without_stream"))
    assert "cudaStream_t" in told(findings)
