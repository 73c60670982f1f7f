"""One cache and one real judge for the whole run: the reference is compiled once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling.timing_plan import TimingPlan
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain

QUICK = TimingPlan(
    block_s=0.005, min_pairs=2, max_pairs=2, max_calls=16, max_short_calls=16, hidden_us=30.0
)
"""Enough to have times, not enough to trust them."""

SCALE_TASK = """\
import torch
from torch import nn

rows = 96
columns = 160


class Model(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(columns) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(x) * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, columns)]


def get_init_inputs() -> list[int]:
    return [columns]
"""

SCALE_MODEL = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])
        return out
"""

SCALE_KERNEL = """\
__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

extern "C" void scale(float* out, const float* x, const float* weight, int rows, int columns,
                      cudaStream_t stream) {
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, stream>>>(out, x, weight, columns);
}
"""


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test touches the user's cache; tests that run side by side share one, as users' runs do."""
    own = tmp_path_factory.getbasetemp()
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    folder = (own.parent if is_one_of_several else own) / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_GYM_CACHE", str(folder))
        if is_one_of_several:
            with FileLock(f"{folder}.lock"):  # one of them builds the runtime libraries
                CpuToolchain(BuildCache(folder)).warm()
        yield folder


@pytest.fixture(scope="session", autouse=True)
def one_thread_for_torch() -> None:
    """As in a reference process: threads that wait for each other burn the cores of tests beside them."""
    import torch  # not above: the process that hands out tests has no need of it

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def judge(cache_folder: Path) -> Iterator[Judge]:
    """A real judge on `cpu`, with short deadlines and short races."""
    config = JudgeConfig(
        memory_bytes=2 << 30,
        timing=QUICK,
        folder=cache_folder,
        deadlines=Deadlines(load_s=6.0, run_s=6.0),
    )
    judge = Judge(Device("cpu"), config)
    yield judge
    judge.close()


@pytest.fixture(scope="session")
def scale_task() -> Task:
    """exp(x) * weight: small, sensitive to every input and parameter."""
    return Task(id="test/scale", title="exp(x) times a weight", source=SCALE_TASK)


@pytest.fixture(scope="session")
def scale_submission() -> Submission:
    """A right submission for `scale_task`."""
    return submit(SCALE_MODEL, SCALE_KERNEL)


def submit(model: str, *kernels: str) -> Submission:
    """A submission of a model and kernel files."""
    files = {f"kernels/k{i}.cu": kernel for i, kernel in enumerate(kernels)}
    return Submission.of({"model_new.py": model, **files})
