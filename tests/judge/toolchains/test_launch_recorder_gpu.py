"""What the launch recorder notes of launches that really run."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys

import pytest
import torch

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda import CudaToolchain
from cuda_gym.judge.toolchains.launch_recorder import RecordedLibrary

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH"),
]

PROGRAM = """\
#include <cooperative_groups.h>
template <typename T> __global__ void scale(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
extern __shared__ float tile[];
__global__ void shares(float* x) { tile[threadIdx.x] = x[threadIdx.x]; x[threadIdx.x] = tile[0]; }
__global__ void together(float* x) { cooperative_groups::this_grid().sync(); x[0] += 1; }
__global__ void spins(float* x, long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
    x[0] += 1;
}
__global__ void strays(float* x) { x[1ll << 40] = 1; }

extern "C" {
void go(float* x, int n, int blocks, int threads, cudaStream_t s) {
    scale<<<blocks, threads, 0, s>>>(x, n);
}
void share(float* x, int bytes, cudaStream_t s) { shares<<<1, 32, bytes, s>>>(x); }
void share_on_request(float* x, int bytes, cudaStream_t s) {
    cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    shares<<<1, 32, bytes, s>>>(x);
}
void cooperate(float* x, int blocks, cudaStream_t s) {
    void* arguments[] = {&x};
    cudaLaunchCooperativeKernel((const void*)together, dim3(blocks), dim3(1024), arguments, 0, s);
}
void configure(float* x, long long cycles, cudaStream_t s) {
    cudaLaunchConfig_t asked = {};
    asked.gridDim = dim3(1);
    asked.blockDim = dim3(1);
    asked.stream = s;
    cudaLaunchKernelEx(&asked, spins, x, cycles);
}
void spin(float* x, long long cycles, cudaStream_t s) { spins<<<1, 1, 0, s>>>(x, cycles); }
void replay(float* x, int n, int times, cudaStream_t s) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    scale<<<1, 256, 0, own>>>(x, n);
    cudaStreamEndCapture(own, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < times; ++i) cudaGraphLaunch(executable, s);
    cudaStreamSynchronize(s);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(own);
}
void stray(float* x, cudaStream_t s) { strays<<<1, 1, 0, s>>>(x); }
}
"""
STRAY = """\
import ctypes, sys, torch
from cuda_gym.judge.toolchains.launch_recorder import RecordedLibrary
library = RecordedLibrary(sys.argv[1])
x = torch.zeros(256, device="cuda")
stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
library.library.stray(ctypes.c_void_p(x.data_ptr()), stream)
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print(library.describe_fault(str(error).splitlines()[0]))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    toolchain = CudaToolchain(Device("cuda", 0), BuildCache(tmp_path_factory.mktemp("cache")))
    return toolchain.build(Submission.of({"kernels/a.cu": PROGRAM})).library


@pytest.fixture(scope="module")
def library(path: str) -> RecordedLibrary:
    torch.zeros(1, device="cuda")
    return RecordedLibrary(path)


@pytest.fixture
def data() -> torch.Tensor:
    return torch.ones(1024, device="cuda")


def _call(library: RecordedLibrary, name: str, x: torch.Tensor, *numbers: int) -> str | None:
    is_long = name in ("spin", "configure")
    number = ctypes.c_longlong if is_long else ctypes.c_int
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    function = getattr(library.library, name)
    function(ctypes.c_void_p(x.data_ptr()), *map(number, numbers), stream)
    error = library.take_error()
    torch.cuda.synchronize()
    return error


def test_a_launch_is_counted_and_has_run(library: RecordedLibrary, data: torch.Tensor) -> None:
    before = library.num_launches()
    assert _call(library, "go", data, 1024, 4, 256) is None
    assert library.num_launches() == before + 1
    assert data.sum().item() == 2048


@pytest.mark.parametrize(
    ("blocks", "threads", "told"),
    [
        (0, 256, "; a grid has at least 1 block"),
        (1, 2048, "not 2,048; take a smaller block"),
    ],
)
def test_a_launch_that_no_gpu_takes_says_why(
    library: RecordedLibrary, data: torch.Tensor, blocks: int, threads: int, told: str
) -> None:
    before = library.num_launches()
    error = _call(library, "go", data, 1024, blocks, threads)
    assert error is not None
    assert error.startswith("kernel scale<float> was launched with grid ")
    assert told in error
    assert library.num_launches() == before
    assert library.take_error() is None


def test_shared_memory_that_was_not_asked_for_says_how_to_ask(
    library: RecordedLibrary, data: torch.Tensor
) -> None:
    error = _call(library, "share", data, 50_000)
    assert error is not None
    assert "kernel shares was launched" in error
    assert "49,152 bytes; call cudaFuncSetAttribute(kernel, " in error
    assert _call(library, "share_on_request", data, 50_000) is None
    most = torch.cuda.get_device_properties(0).shared_memory_per_block_optin  # type: ignore[attr-defined]
    too_much = _call(library, "share_on_request", data, most + 1024)
    assert too_much is not None
    assert f"at most {most:,} bytes of shared memory" in too_much


def test_a_cooperative_launch_that_does_not_fit_says_how_many_do(
    library: RecordedLibrary, data: torch.Tensor
) -> None:
    assert _call(library, "cooperate", data, 2) is None
    error = _call(library, "cooperate", data, 100_000)
    assert error is not None
    assert "kernel together was launched with grid (100000,1,1)" in error
    most = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    assert f"and {most:,} fit" in error or "fit; launch no more" in error


def test_time_is_told_by_kernel(library: RecordedLibrary, data: torch.Tensor) -> None:
    _call(library, "spin", data, 1000)
    library.time_kernels(True)
    for _ in range(3):
        _call(library, "spin", data, 2_000_000)
    _call(library, "configure", data, 1000)
    _call(library, "go", data, 1024, 4, 256)
    spins, scale = library.launched_kernels()
    library.time_kernels(False)
    assert (spins.name, spins.launches, spins.grid, spins.block) == (
        "spins",
        4,
        (1, 1, 1),
        (1, 1, 1),
    )
    assert 3 * 500_000 < spins.total_ns < 3 * 20_000_000  # 2 M cycles at 0.1 to 4 GHz
    assert (scale.name, scale.launches, scale.grid) == ("scale<float>", 1, (4, 1, 1))
    assert 0 <= scale.total_ns < 1_000_000
    assert library.launched_kernels() == ()


def test_a_graph_is_counted_where_it_is_replayed(
    library: RecordedLibrary, data: torch.Tensor
) -> None:
    library.time_kernels(True)
    waits = library.num_synchronisations()
    assert _call(library, "replay", data, 256, 3) is None
    told = {kernel.name: kernel.launches for kernel in library.launched_kernels()}
    library.time_kernels(False)
    assert told == {"CUDA graph": 3}
    assert data[:256].eq(8).all()
    assert library.num_synchronisations() == waits + 1


def test_a_stray_access_names_the_launch_before_it(path: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", STRAY, path], capture_output=True, text=True, check=True, timeout=100
    ).stdout
    assert "illegal memory access" in said or "illegal address" in said
    assert "found after the launch of kernel strays with grid (1,1,1)" in said
