"""Kernels that are built by NVRTC and launched through the driver, on a GPU."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
import torch

from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cubin import LoadedCubin
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels
from cuda_gym.judge.toolchains.nvrtc import NvrtcToolchain
from cuda_gym.judge.toolchains.nvrtc_pool import warm

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

SOURCE = """
namespace deep {
static __global__ void where(int* out, long long many) {
  out[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * threadIdx.x)] = (int)many + threadIdx.x;
}
}
__global__ void mixed(double* out, const unsigned short* u, bool b, unsigned char c, uint64_t d, float e) {
  out[0] = u[0]; out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e;
}
__global__ void reverse(float* x, int n) {
  extern __shared__ float tile[];
  __shared__ float more[4096];
  more[threadIdx.x] = x[threadIdx.x];
  tile[threadIdx.x] = more[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(64) narrow(float* x) { x[threadIdx.x] = 1.0f; }
__global__ void spin(float* x, long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {}
  x[0] = 1.0f;
}
__global__ void stray(float* x) { *(volatile int*)16 = 1; }
"""
FILES = {"kernels/a.cu": SOURCE}


class Kernels(NamedTuple):
    module: ModuleType
    loaded: LoadedCubin


def load(folder: Path) -> Kernels:
    major, minor = torch.cuda.get_device_capability()
    toolchain = NvrtcToolchain(f"sm_{major}{minor}", BuildCache(folder))
    build = toolchain.build(Submission.of(FILES | {"model_new.py": "cuda_extension.kernel"}))
    torch.empty(1, device="cuda:0")  # the context is torch's
    loaded = LoadedCubin(build.library)
    module = make_extension(
        (),
        loaded,
        device=torch.device("cuda:0"),
        stream=lambda: torch.cuda.current_stream().cuda_stream,
        take_error=loaded.take_error,
        allowed_library=(),
        on_library_call=lambda name: None,
        kernels=parse_kernels(FILES),
    )
    return Kernels(module, loaded)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    if not warm():
        pytest.skip("there is no NVRTC (nvidia-cuda-nvrtc)")
    return load(tmp_path_factory.mktemp("kernels"))


def test_grid_and_block_arrive(kernels: Kernels) -> None:
    out = torch.zeros(24, dtype=torch.int32, device="cuda:0")
    kernels.module.kernel("where")[(3, 4), 2](out, 7)
    assert out.tolist() == [7] * 12 + [8] * 12


def test_every_type_arrives(kernels: Kernels) -> None:
    out = torch.empty(5, dtype=torch.float64, device="cuda:0")
    words = torch.tensor([40_000], dtype=torch.uint16, device="cuda:0")
    kernels.module.kernel("mixed")[1, 1](out, words, True, 255, 2**40, 0.25)
    assert out.tolist() == [40_000.0, 1.0, 255.0, 2.0**40, 0.25]


@pytest.mark.parametrize("num_bytes", [4 * 64, 40 << 10, 64 << 10])
def test_shared_memory_may_be_large(kernels: Kernels, num_bytes: int) -> None:
    x = torch.arange(64.0, device="cuda:0")
    kernels.module.kernel("reverse")[1, 64, num_bytes](x, 64)
    assert x.tolist() == list(range(63, -1, -1))


def test_launches_go_to_the_current_stream(kernels: Kernels) -> None:
    x = torch.zeros(64, device="cuda:0")
    torch.cuda.synchronize()
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(side):
        kernels.module.kernel("spin")[1, 1](x, 50_000_000)
        assert not side.query()
    assert torch.cuda.current_stream().query()
    side.synchronize()
    assert x[0].item() == 1.0


def test_launches_are_counted_and_a_refused_one_is_not(kernels: Kernels) -> None:
    x = torch.zeros(256, device="cuda:0")
    before = kernels.loaded.num_launches()
    kernels.module.kernel("narrow")[1, 64](x)
    with pytest.raises(
        RuntimeError,
        match=r"narrow was launched with grid \(1,1,1\) and block \(256,1,1\).*at most 64",
    ):
        kernels.module.kernel("narrow")[1, 256](x)
    assert kernels.loaded.num_launches() == before + 1
    assert kernels.loaded.take_error() is None
    kernels.module.kernel("narrow")[1, 64](x)
    torch.cuda.synchronize()


def test_more_shared_memory_than_there_is_is_told_with_what_there_is(kernels: Kernels) -> None:
    x = torch.zeros(64, device="cuda:0")
    with pytest.raises(RuntimeError, match=r"gives a block at most [\d,]+ bytes of shared memory"):
        kernels.module.kernel("reverse")[1, 64, 227 << 10](x, 64)
    kernels.module.kernel("reverse")[1, 64, 64 << 10](x, 64)


def test_a_thread_of_its_own_can_launch(kernels: Kernels) -> None:
    x = torch.zeros(64, device="cuda:0")
    stream = torch.cuda.current_stream().cuda_stream
    errors: list[BaseException] = []

    def run() -> None:
        try:
            kernels.module.kernel("narrow")[1, 64](x)
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert stream == torch.cuda.current_stream().cuda_stream
    assert errors == []
    assert x.sum().item() == 64.0


def test_time_is_by_kernel_and_without_the_events_own(kernels: Kernels) -> None:
    x = torch.zeros(64, device="cuda:0")
    kernels.loaded.time_kernels(True)
    for cycles in (2_000_000, 4_000_000):
        kernels.module.kernel("spin")[1, 1](x, cycles)
        kernels.module.kernel("narrow")[1, 64](x)
    spin, narrow = kernels.loaded.launched_kernels()
    kernels.loaded.time_kernels(False)
    assert (spin.name, spin.launches, narrow.name, narrow.launches) == ("spin", 2, "narrow", 2)
    assert 1_500_000 < spin.total_ns < 60_000_000
    assert narrow.total_ns < 200_000


def test_a_captured_launch_is_made_but_not_timed(kernels: Kernels) -> None:
    x = torch.zeros(64, device="cuda:0")
    graph = torch.cuda.CUDAGraph()
    kernels.loaded.time_kernels(True)
    with torch.cuda.graph(graph):
        kernels.module.kernel("narrow")[1, 64](x)
    assert kernels.loaded.launched_kernels() == ()
    kernels.loaded.time_kernels(False)
    assert x.sum().item() == 0.0
    graph.replay()
    assert x.sum().item() == 64.0


STRAY = """
from pathlib import Path
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("on_gpu", sys.argv[1])
on_gpu = importlib.util.module_from_spec(spec)
spec.loader.exec_module(on_gpu)
kernels = on_gpu.load(Path(sys.argv[2]))
x = torch.zeros(64, device="cuda:0")
kernels.module.kernel("stray")[3, 32](x)
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print("found", str(error).splitlines()[0])
try:
    kernels.module.kernel("narrow")[1, 64](x)
except RuntimeError as error:
    print("told", error)
"""


def test_a_stray_access_is_told_at_the_next_launch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRAY, __file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    found, told = done.stdout.splitlines()[:2]
    assert found.startswith("found")
    assert "illegal memory access" in told
    assert "after the launch of kernel stray with grid (3,1,1) and block (32,1,1)" in told
