"""The judges that ours is measured beside: KernelBench, and the scripts of CUDA Agent's folder.

Each is called as its users do, in fresh processes, on the same ReLU and with the same kernel as ours. Both
are checkouts that somebody else brings; nothing of them is part of this package.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.on_gpu.problems import Problem

__all__ = ["cuda_agent_runs", "kernelbench_runs"]

_TIMEOUT_S = 240.0


def kernelbench_runs(
    checkout: Path, problem: Problem, *, fresh: int, checks: int, runs: int
) -> Iterator[dict[str, Any]]:
    """Evaluations, each in a process of its own: first without the extension built, then with it.

    `process_s` is the whole process, `call_s` KernelBench's evaluation alone.
    """
    script = Path(__file__).with_name("kernelbench.py")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "reference.py").write_text(problem.task.source, encoding="utf-8")
        (folder / "kernel.py").write_text(_inline(problem), encoding="utf-8")
        command = [sys.executable, str(script), str(checkout), "reference.py", "kernel.py"]
        for number in range(2 * fresh):
            state = "fresh" if number < fresh else "built before"
            builds = folder / f"extensions{min(number, fresh - 1)}"
            told, seconds, _ = _timed([*command, str(checks), str(runs)], folder, builds)
            yield {"state": state, "process_s": seconds, **_last_json(told)}


def cuda_agent_runs(checkout: Path, problem: Problem, *, runs: int) -> Iterator[dict[str, Any]]:
    """The three scripts of its work folder, one after the other: compile, verify, profile."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "workdir"
        shutil.copytree(checkout / "agent_workdir", folder)
        for path in (folder / "kernels").iterdir():
            path.unlink()
        kernel = problem.submission.text("kernels/kernel.cu") or ""
        (folder / "model.py").write_text(problem.task.source, encoding="utf-8")
        (folder / "model_new.py").write_text(_AGENT_MODEL, encoding="utf-8")
        (folder / "kernels" / "relu.cu").write_text(kernel, encoding="utf-8")
        (folder / "kernels" / "relu_binding.cpp").write_text(_AGENT_BINDING, encoding="utf-8")
        steps = {"compile": [], "verification": [], "profiling": ["--iters", str(runs)]}
        for step, arguments in steps.items():
            command = [sys.executable, "-m", f"utils.{step}", *arguments]
            told, seconds, right = _timed(command, folder, Path(place) / "extensions")
            last = told.strip().splitlines()[-1:] or [""]
            yield {"step": step, "seconds": seconds, "right": right, "said": last[0][:300]}


def _timed(command: list[str], folder: Path, extensions: Path) -> tuple[str, float, bool]:
    """What a process printed, the seconds that it took, and whether it succeeded."""
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(extensions)}
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {_TIMEOUT_S:.0f} s", time.perf_counter() - start, False
    return done.stdout, time.perf_counter() - start, not done.returncode


def _last_json(told: str) -> dict[str, Any]:
    for line in reversed(told.splitlines()):
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return found
    return {"right": False, "why": told[-500:]}


def _inline(problem: Problem) -> str:
    """The kernel as a single file in KernelBench's format, compiled by `load_inline`."""
    kernel = (problem.submission.text("kernels/kernel.cu") or "").partition('extern "C"')[0]
    return _INLINE.replace("KERNEL", kernel)


_INLINE = '''\
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
KERNEL
torch::Tensor relu_forward(torch::Tensor x) {
    auto out = torch::empty_like(x);
    const long n = x.numel();
    relu_kernel<<<(n + 1023) / 1024, 256>>>(out.data_ptr<float>(), x.data_ptr<float>(), n);
    return out;
}
"""

relu = load_inline(
    name="relu_inline",
    cpp_sources="torch::Tensor relu_forward(torch::Tensor x);",
    cuda_sources=source,
    functions=["relu_forward"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = relu

    def forward(self, x):
        return self.relu.relu_forward(x)
'''

_AGENT_MODEL = """\
import torch
import torch.nn as nn
import cuda_extension


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return cuda_extension.relu_forward(x)
"""

_AGENT_BINDING = """\
#include <torch/types.h>
#include <torch/csrc/utils/pybind.h>
#include <cuda_runtime.h>
#include <c10/cuda/CUDAStream.h>
#include "../binding_registry.h"

extern "C" void relu(float* out, const float* x, long n, cudaStream_t stream);

static torch::Tensor relu_forward(torch::Tensor x) {
    auto out = torch::empty_like(x);
    relu(out.data_ptr<float>(), x.data_ptr<float>(), x.numel(),
         c10::cuda::getCurrentCUDAStream().stream());
    return out;
}

static void register_relu(pybind11::module& m) { m.def("relu_forward", &relu_forward); }

REGISTER_BINDING(relu, register_relu);
"""
