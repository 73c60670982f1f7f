from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.shared_memory import static_shared_bytes

KERNELS = """
namespace deep { template <int N> __device__ float helper(float v) {
  __shared__ float scratch[N];
  scratch[threadIdx.x] = v;
  __syncthreads();
  return scratch[0];
} }
template <class T, int N> __global__ void generic(T* x) {
  __shared__ T tile[N][2];
  tile[threadIdx.x][0] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[N - 1 - threadIdx.x][0];
}
__global__ void two(float* x) {
  __shared__ float a[8], b[4];
  a[threadIdx.x & 7] = b[threadIdx.x & 3] = x[0];
  __syncthreads();
  x[threadIdx.x] = a[0] + b[1] + deep::helper<16>(x[1]);
}
__global__ void none(float* x) { x[0] = 1; }
extern "C" void go(float* x) {
  generic<float, 8><<<1, 8>>>(x);
  generic<double, 32><<<1, 32>>>((double*)x);
  two<<<1, 16>>>(x);
  none<<<1, 1>>>(x);
}
"""


def test_static_shared_memory_is_told_with_what_functions_take(
    compile_source: Callable[..., Any],
) -> None:
    kernels = compile_source(KERNELS).build.kernels
    assert {kernel.name: kernel.shared_bytes for kernel in kernels} == {
        "generic": 32 * 2 * 8,
        "two": (8 + 4 + 16) * 4,
        "none": 0,
    }


def test_more_than_a_gpu_has_is_an_error(toolchain: CpuToolchain) -> None:
    text = """
__global__ void large(float* x) {
  __shared__ float s[20000];
  s[threadIdx.x] = 1;
  __syncthreads();
  x[0] = s[5];
}
void go(float* x) { large<<<1, 32>>>(x); }
"""
    with pytest.raises(CompileError, match=r"large has 80,000 bytes .* 49,152 are the most"):
        toolchain.build(Submission.of({"kernels/k.cu": text}))


@pytest.mark.parametrize("library", [b"", b"text", b"MZ" + bytes(100)])
def test_what_is_no_library_has_none(library: bytes) -> None:
    assert static_shared_bytes(library) == {}
