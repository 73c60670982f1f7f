from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cuda_gym.core.findings import KernelResources
from cuda_gym.judge.toolchains.ptxas import read_resources, with_occupancy

CUDA_13 = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN2ns5localEPfPKfi' for 'sm_90'
ptxas info    : Function properties for _ZN2ns5localEPfPKfi
    256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 256 bytes cumulative stack size
ptxas info    : Compile time = 31.799 ms
ptxas info    : Compiling entry function '_Z5tilesILi128EEvPfPKfi' for 'sm_90'
ptxas info    : Function properties for _Z5tilesILi128EEvPfPKfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 512 bytes smem
ptxas info    : Compiling entry function 'plain' for 'sm_90'
ptxas info    : Function properties for _Z4helpf
    48 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
ptxas warning : Registers are spilled to local memory in function '_Z7spilledPfPKfi', 2140 bytes spill stores
ptxas info    : Compiling entry function '_Z7spilledPfPKfi' for 'sm_90'
ptxas info    : Function properties for _Z7spilledPfPKfi
    1528 bytes stack frame, 2140 bytes spill stores, 3720 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 1528 bytes cumulative stack size
"""
CUDA_11 = """\
ptxas info    : 0 bytes gmem, 8 bytes cmem[3]
ptxas info    : Compiling entry function '_Z4rowsPfPKfi' for 'sm_70'
ptxas info    : Function properties for _Z4rowsPfPKfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, 1024+0 bytes smem, 372 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compiling entry function '_Z4rowsPfPKfi' for 'sm_80'
ptxas info    : Function properties for _Z4rowsPfPKfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, 1024 bytes smem, 372 bytes cmem[0]
"""
SOURCE = """\
template <int WIDTH> __global__ void tiles(float* out, const float* x) {
    __shared__ float tile[WIDTH];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[WIDTH - 1 - threadIdx.x];
}
namespace ns {
__global__ void local(float* out, const float* x, int n) {
    float a[64];
    for (int i = 0; i < 64; ++i) a[i] = x[i * n];
    for (int i = 0; i < 64; ++i) out[i] = a[(i * n) & 63];
}
}
extern "C" void run(float* out, const float* x, int n, cudaStream_t stream) {
    tiles<128><<<1, 128, 0, stream>>>(out, x);
    ns::local<<<1, 1, 0, stream>>>(out, x, n);
}
"""


def test_registers_spills_local_and_shared_memory_are_read_for_each_kernel() -> None:
    assert read_resources(CUDA_13) == (
        KernelResources(
            name="ns::local", registers=40, spill_bytes=0, stack_bytes=256, shared_bytes=0
        ),
        KernelResources(
            name="tiles<128>", registers=14, spill_bytes=0, stack_bytes=0, shared_bytes=512
        ),
        KernelResources(name="plain", registers=10, spill_bytes=0, stack_bytes=0, shared_bytes=0),
        KernelResources(
            name="spilled", registers=32, spill_bytes=5860, stack_bytes=1528, shared_bytes=0
        ),
    )


def test_the_words_of_older_compilers_and_several_architectures_are_read() -> None:
    (first,) = read_resources(CUDA_11)
    assert (first.registers, first.shared_bytes, first.constant_bytes) == (16, 1024, 380)
    (second,) = read_resources(CUDA_11, architecture="sm_80")
    assert (second.registers, second.constant_bytes) == (18, 372)
    assert read_resources(CUDA_11, architecture="sm_90") == ()


@pytest.mark.parametrize("said", ["", "nvcc fatal: no", CUDA_13[:200], "Used 3 registers"])
def test_what_says_nothing_of_a_kernel_gives_nothing(said: str) -> None:
    assert read_resources(said) == ()


def test_the_occupancy_is_that_of_the_launch() -> None:
    kernel = KernelResources(name="k", registers=128, shared_bytes=1024)
    full = with_occupancy(kernel, (9, 0), block_threads=256, dynamic_bytes=100 << 10)
    assert (full.block_threads, full.occupancy) == (256, 0.25)
    assert full.limited_by == "registers and shared memory"
    assert with_occupancy(kernel, (3, 5), block_threads=256) is kernel
    unknown = KernelResources(name="k")
    assert with_occupancy(unknown, (9, 0), block_threads=256) is unknown


def test_a_real_compiler_is_read(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc on PATH")
    (tmp_path / "k.cu").write_text(SOURCE)
    done = subprocess.run(
        [nvcc, "-arch=sm_80", "-Xptxas=-v", "-cubin", "k.cu", "-o", "k.cubin"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"nvcc does not work here: {done.stderr.strip()[-200:]}")
    kernels = {kernel.name: kernel for kernel in read_resources(done.stdout + done.stderr)}
    assert kernels.keys() == {"tiles<128>", "ns::local"}
    assert kernels["tiles<128>"].shared_bytes == 512
    assert kernels["ns::local"].stack_bytes == 256
    assert all(10 <= (kernel.registers or 0) <= 64 for kernel in kernels.values())
