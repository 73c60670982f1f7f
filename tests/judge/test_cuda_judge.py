"""What a judge on a GPU says of submissions of every kind, and that it is none the worse afterwards."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.agents.scripted import load_solution
from cuda_gym.core.device import Device
from cuda_gym.core.findings import BuildForm, Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling.timing import GPU_PLAN
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.tasks.registry import load_task

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

SUBMISSIONS = Path(__file__).parent / "cuda_submissions"
OUT = "out = torch.empty_like(x)\n"
CALL = "cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n"
RUN_S = 5.0


@pytest.fixture(scope="module")
def cuda_judge(cache_folder: Path) -> Iterator[Judge]:
    """One judge for all of them, with short deadlines and short races."""
    config = JudgeConfig(
        timing=replace(GPU_PLAN, max_pairs=4),
        folder=cache_folder,
        deadlines=Deadlines(load_s=10.0, run_s=RUN_S),
    )
    judge = Judge(Device("cuda"), config)
    yield judge
    judge.close()


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


def memory_info() -> tuple[int, int]:
    """Free and total bytes of the GPU."""
    cuda: Any = torch.cuda
    free, total = cuda.mem_get_info(0)
    return int(free), int(total)


def kernel(name: str) -> Submission:
    """The right model over one of the kernel files of this folder."""
    return submit(SCALE_MODEL, (SUBMISSIONS / f"{name}.cu").read_text())


def model_with(body: str, *, kernel: str = SCALE_KERNEL) -> Submission:
    """The right kernel under another body of forward."""
    head, _, _ = SCALE_MODEL.partition("        out = ")
    return submit(head + "".join(f"        {line}\n" for line in body.splitlines()), kernel)


def told(result: Verdict | Findings) -> str:
    findings = result.findings if isinstance(result, Verdict) else result
    return "\n".join([findings.summary, *map(str, findings.diagnostics)])


def test_a_right_submission_gets_a_speedup_and_says_on_what(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    verdict = cuda_judge.judge(scale_task, scale_submission)
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert verdict.timing is not None
    assert verdict.timing.speedup_low <= verdict.timing.speedup <= verdict.timing.speedup_high
    assert verdict.timing.eager_us is not None
    assert verdict.fingerprint is not None
    assert torch.cuda.get_device_name(0) in verdict.fingerprint.device
    assert "nvcc" in verdict.fingerprint.toolchain
    conditions = str(verdict.fingerprint)
    assert re.search(r"driver \d", conditions), conditions
    assert re.search(r"CUDA \d", conditions), conditions
    assert verdict.timing.timer not in ("", "wall")
    assert len(verdict.findings.draws) >= 5


def test_a_seed_replays_the_same_draws(
    cuda_judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    one, two = (cuda_judge.judge(scale_task, scale_submission, seed=7) for _ in range(2))
    assert one.findings.draws == two.findings.draws


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


@pytest.mark.parametrize("name", ["synchronises", "own_stream_joined", "graph"])
def test_an_unusual_launcher_is_judged_and_its_timer_named(
    name: str, cuda_judge: Judge, scale_task: Task
) -> None:
    verdict = cuda_judge.judge(scale_task, kernel(name))
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert verdict.timing is not None
    assert verdict.timing.timer
    assert verdict.fingerprint is not None
    assert verdict.fingerprint.timer == verdict.timing.timer


def test_work_on_a_stream_that_nobody_waits_for_is_not_fast(
    cuda_judge: Judge, scale_task: Task
) -> None:
    verdict = cuda_judge.judge(scale_task, kernel("own_stream_never_joined"))
    assert verdict.outcome is not Outcome.MACHINE_ERROR, told(verdict)
    assert verdict.timing is None or verdict.timing.time_us > 2000.0


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


LIBRARY_TASK = """\
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, a, b):
        return torch.relu({expression})

def get_inputs():
    return [torch.randn({a}), torch.randn({b})]

def get_init_inputs():
    return []
"""
LIBRARY_MODEL = """\
import cuda_extension
from torch import nn

class ModelNew(nn.Module):
    def forward(self, a, b):
        y = cuda_extension.library.{call}
        cuda_extension.relu_(y, y.numel())
        return y
"""


@pytest.mark.parametrize(
    ("name", "call", "expression", "a", "b"),
    [
        ("gemm", "gemm(a, b)", "a @ b", "48, 96", "96, 80"),
        ("bmm", "bmm(a, b)", "torch.bmm(a, b)", "4, 48, 96", "4, 96, 80"),
        ("conv", "conv(a, b, padding=1)", "nn.functional.conv2d(a, b, padding=1)",
         "4, 16, 24, 24", "32, 16, 3, 3"),
    ],
)  # fmt: skip
def test_library_calls_are_right_where_they_are_allowed(
    name: str, call: str, expression: str, a: str, b: str, cuda_judge: Judge
) -> None:
    source = LIBRARY_TASK.format(expression=expression, a=a, b=b)
    submission = submit(
        LIBRARY_MODEL.format(call=call), (SUBMISSIONS / "relu_in_place.cu").read_text()
    )
    task = Task(id=f"test/{name}", title=name, source=source, library=(name,))
    findings = cuda_judge.verify(task, submission)
    assert findings.outcome is Outcome.CORRECT, told(findings)


@pytest.mark.parametrize(
    "name", ["bfloat16_residual", "half_layer_norm", "argmax_rows", "int8_linear"]
)
def test_narrow_and_whole_numbers_are_judged(name: str, cuda_judge: Judge) -> None:
    task = load_task(f"core/{name}")
    findings = cuda_judge.verify(task, Submission.of(load_solution(task.id)))
    assert findings.outcome is Outcome.CORRECT, told(findings)


def test_a_file_without_host_code_is_compiled_without_a_host_compiler(
    cuda_judge: Judge, scale_task: Task
) -> None:
    launch = (
        'launch = cuda_extension.kernel("scale_kernel")[((x.shape[1] + 127) // 128, x.shape[0]), 128]\n'
        f"{OUT}launch(out, x, self.weight, x.shape[1])\nreturn out"
    )
    submission = model_with(launch, kernel=(SUBMISSIONS / "kernel_only.cu").read_text())
    verdict = cuda_judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert verdict.findings.build is not None
    assert verdict.findings.build.form is BuildForm.CUBIN


def test_a_folder_of_bindings_is_judged(cuda_judge: Judge, scale_task: Task) -> None:
    folder = SUBMISSIONS / "folder"
    files = [path for path in folder.rglob("*") if path.suffix in {".py", ".cu", ".cpp"}]
    submission = Submission.of({str(p.relative_to(folder)): p.read_text() for p in files})
    verdict = cuda_judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert verdict.findings.build is not None
    assert verdict.findings.build.form is BuildForm.EXTENSION


def test_a_single_file_that_compiles_its_own_extension_is_judged(
    cuda_judge: Judge, scale_task: Task
) -> None:
    submission = Submission.of({"model_new.py": (SUBMISSIONS / "single_file.py").read_text()})
    verdict = cuda_judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert verdict.findings.build is not None
    assert verdict.findings.build.form is BuildForm.EXTENSION


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("compute-sanitizer") is None, reason="there is no compute-sanitizer"
)
def test_the_memory_check_finds_a_write_behind_the_output(
    cuda_judge: Judge, scale_task: Task
) -> None:
    findings = cuda_judge.verify(scale_task, kernel("out_of_bounds"), check="memory")
    assert findings.memory, findings.summary
    assert {"out of bounds"} == {finding.kind for finding in findings.memory}
    assert any(
        (side.file, side.line) == ("kernels/k0.cu", 6)
        for finding in findings.memory
        for side in finding.sides
    )


BIG_TASK = """\
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(1 << 14, 1 << 15)]

def get_init_inputs():
    return []
"""
BIG_MODEL = """\
import cuda_extension
import torch
from torch import nn

class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        cuda_extension.relu(out, x, x.numel())
        return out
"""
BIG_KERNEL = """\
__global__ void relu_kernel(float* out, const float* x, long n) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] < 0.0f ? 0.0f : x[i];
}
extern "C" void relu(float* out, const float* x, long n, cudaStream_t stream) {
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n);
}
"""


@pytest.mark.slow
def test_a_task_of_4_gb_is_judged_within_24_gb(cuda_judge: Judge) -> None:
    if memory_info()[0] < 30 << 30:
        pytest.skip("less than 30 GiB of the GPU are free")
    before, peak, done = memory_info()[0], 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.01):
            peak = max(peak, before - memory_info()[0])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        task = Task(id="test/big", title="big", source=BIG_TASK)
        verdict = cuda_judge.judge(task, submit(BIG_MODEL, BIG_KERNEL))
    finally:
        done.set()
        watcher.join()
    assert verdict.outcome is Outcome.CORRECT, told(verdict)
    assert peak < 24 << 30, f"{peak / 2**30:.1f} GiB"
