"""What a judge on a GPU says of right submissions of every kind and size."""

from __future__ import annotations

import re
import shutil
import threading

import pytest
import torch
from tests.conftest import SCALE_KERNEL, submit
from tests.judge.cuda_cases import OUT, SUBMISSIONS, kernel, memory_info, model_with, told

from cuda_gym.agents.scripted import load_solution
from cuda_gym.core.findings import BuildForm, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge
from cuda_gym.tasks.registry import load_task

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]


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


IN_TURN = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))
        self.outputs: dict = {}
        self.turn = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.turn = (self.turn + 1) % NUM_OUTPUTS
        place = self.turn, *x.shape
        if place not in self.outputs:
            self.outputs[place] = torch.empty_like(x)
        cuda_extension.scale(self.outputs[place], x, self.weight, x.shape[0], x.shape[1])
        return self.outputs[place]
"""
TRANSPOSED = model_with(
    "out = torch.empty(x.shape[1], x.shape[0], device=x.device)\n"
    "cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\n"
    "return out.t()",
    kernel=SCALE_KERNEL.replace("out[row * columns + column]", "out[column * gridDim.y + row]"),
)


@pytest.mark.parametrize(
    "submission",
    [
        submit(IN_TURN.replace("NUM_OUTPUTS", "1"), SCALE_KERNEL),
        submit(IN_TURN.replace("NUM_OUTPUTS", "2"), SCALE_KERNEL),
        TRANSPOSED,
    ],
    ids=["one buffer", "two buffers in turn", "strides"],
)
def test_outputs_that_a_sealed_block_copies_are_paid_with_their_copies_and_accuse_nobody(
    submission: Submission, cuda_judge: Judge, scale_task: Task
) -> None:
    verdict = cuda_judge.judge(scale_task, submission)
    assert verdict.outcome is Outcome.CORRECT, told(verdict)


def test_work_on_a_stream_that_nobody_waits_for_is_not_fast(
    cuda_judge: Judge, scale_task: Task
) -> None:
    verdict = cuda_judge.judge(scale_task, kernel("own_stream_never_joined"))
    assert verdict.outcome is not Outcome.MACHINE_ERROR, told(verdict)
    assert verdict.timing is None or verdict.timing.time_us > 2000.0


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


@pytest.mark.alone
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
