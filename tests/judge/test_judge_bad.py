"""Whatever is wrong with a submission gets its outcome and a message, and the next one is judged as ever."""

from __future__ import annotations

import re

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.judge.cpu_cases import BODY, CALL, FORWARD, kernel_with, model_with

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge

BAD = {
    # Python that does not get as far as running
    "does not parse": (submit("def f(:\n", SCALE_KERNEL), "compile_error", "model_new.py:1"),
    "has no ModelNew": (submit("import torch\n", SCALE_KERNEL), "compile_error", "ModelNew"),
    "is empty": (Submission.of({}), "compile_error", "model_new.py"),
    "has no kernels": (submit(SCALE_MODEL), "compile_error", "kernels"),
    # kernels that do not compile, or not here
    "kernel does not compile": (kernel_with(BODY, "out[0] = nonsense;"), "compile_error", "nonsense"),
    "inline PTX": (
        kernel_with(BODY, 'asm("bar.sync 0;");'), "unsupported_on_device", "kernels/k0.cu:4"),
    # wrong values
    "wrong value": (kernel_with("* weight[column]", "+ weight[column]"), "wrong", "off"),
    "no bounds check": (
        kernel_with("dim3 grid((columns + 127) / 128, rows)", "dim3 grid(columns / 128, rows)"),
        "wrong", "NaN"),
    "launches nothing": (
        kernel_with("scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);", ""),
        "wrong", "NaN"),
    "hard-coded shape": (
        kernel_with("dim3 grid((columns + 127) / 128, rows)", "dim3 grid((columns + 127) / 128, min(rows, 96))"), "wrong", "shape"),
    # wrong form
    "returns nothing": (model_with(f"{FORWARD.strip()}\n{CALL.strip()}"), "wrong", "None"),
    "returns a list": (model_with("return [1, 2]"), "wrong", "2 values"),
    "returns a number": (model_with("return 3.0"), "wrong", "float"),
    "returns the wrong shape": (model_with("return torch.empty(3)"), "wrong", r"\(3,\)"),
    "returns the wrong dtype": (
        model_with("return torch.empty_like(x, dtype=torch.float64)"), "wrong", "float64"),
    "returns its input": (model_with("return x"), "wrong", "is an input"),
    "changes its input": (
        model_with("cuda_extension.scale(x, x, self.weight, x.shape[0], x.shape[1])\n"
                   "out = torch.empty_like(x)\n"
                   "cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])\nreturn out"),
        "wrong", "changed .* elements of its input"),
    # another state_dict or constructor
    "changes the state_dict": (
        submit(SCALE_MODEL.replace("self.weight", "self.scale"), SCALE_KERNEL),
        "runtime_error", "Missing: weight"),
    "has another constructor": (
        submit(SCALE_MODEL.replace("columns: int", ""), SCALE_KERNEL), "runtime_error", "constructing"),
    # raises
    "raises": (model_with("raise ValueError('boom')"), "runtime_error", r"boom[\s\S]*model_new.py:12"),
    "divides by zero": (model_with("return 1 // 0"), "runtime_error", "ZeroDivisionError"),
    "passes the wrong dtype": (
        model_with("out = torch.empty_like(x, dtype=torch.float64)\n"
                   f"{CALL.strip()}\nreturn out"), "runtime_error", "float64"),
    "calls a launcher that is not there": (
        model_with("cuda_extension.scala()"), "runtime_error", "scale"),
    # ends or harms the process
    "calls os._exit": (model_with("import os\nos._exit(0)"), "runtime_error", "exit code 0"),
    "calls sys.exit": (model_with("import sys\nsys.exit(3)"), "runtime_error", "SystemExit"),
    "aborts": (model_with("import os\nos.abort()"), "runtime_error", "crashed"),
    "reads far outside": (
        kernel_with("expf(x[row * columns + column])", "x[(size_t)1 << 40]"),
        "runtime_error", "address"),
    "divides an integer by zero in a kernel": (
        kernel_with(BODY, "out[row * columns + column] = columns / (columns - columns - (int)blockIdx.z);"),
        "runtime_error", "crashed"),
    "recurses without end": (
        model_with("return self.forward(x)"), "runtime_error", "RecursionError"),
    "allocates without end": (
        model_with("kept = []\nwhile True:\n    kept.append(torch.empty(1 << 28))"),
        "runtime_error", "alloc"),
    "forks": (
        model_with("import os\ngetattr(os, 'fo' + 'rk')()"), "runtime_error", "not permitted"),
    "sleeps for ever": (model_with("import time\ntime.sleep(3600)"), "timeout", "within 6 s"),
    "deadlocks": (
        kernel_with(BODY, "if (threadIdx.x == 0) __syncthreads(); else __syncwarp(1u);"),
        "runtime_error", "."),
    # computes elsewhere
    "uses torch": (model_with("return torch.exp(x) * self.weight"), "refused", "torch.exp"),
    "falls back to torch": (
        model_with("try:\n    return torch.exp(x) * self.weight\nexcept RuntimeError:\n    pass\n"
                   f"{FORWARD.strip()}\n{CALL.strip()}\nreturn out"), "refused", "torch.exp"),
    "computes with numpy": (
        model_with("return torch.from_numpy(x.numpy() + 1)"), "refused", r"calls \.numpy\(\)"),
    "imports ctypes": (
        model_with("return x", top="import ctypes\nx = ctypes.c_int\n"), "refused", "ctypes"),
    "computes on the host": (
        submit(SCALE_MODEL, """\
#include <cmath>
__global__ void unused() {}
extern "C" void scale(float* out, const float* x, const float* w, int rows, int columns, cudaStream_t s) {
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) out[r * columns + c] = std::exp(x[r * columns + c]) * w[c];
}
"""), "refused", "0 kernels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_submission_gets_the_right_outcome_and_a_message(
    name: str, judge: Judge, scale_task: Task
) -> None:
    submission, outcome, words = BAD[name]
    findings = judge.verify(scale_task, submission)
    told = findings.summary + "\n".join(map(str, findings.diagnostics))
    assert findings.outcome is not None
    assert findings.outcome.value == outcome, told
    assert re.search(words, told), told


def test_after_all_of_them_the_next_submission_is_judged(
    judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
