"""`cuda_extension.kernel(name)[grid, block, shared_bytes](args...)`, on kernels that are really built."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch

from cuda_gym.core.task import Submission
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.direct_kernels import parse_kernels
from cuda_gym.judge.toolchains.launchers import parse_launchers

FIRST = """
namespace deep {
__global__ void where(int* out, long long many) {
  out[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * threadIdx.y)] = (int)many + threadIdx.x;
}
}
extern "C" __global__ void reverse(float* __restrict__ x, const int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
template <typename T> __global__ void generic(T* x) { *x = 1; }
"""
SECOND = """
#include <cuda_fp16.h>
#include <cstdint>
__global__ void mixed(double* out, const __half* h, bool b, unsigned char c, uint64_t d, float e) {
  out[0] = __half2float(h[0]); out[1] = b; out[2] = c; out[3] = (double)d; out[4] = e;
}
extern "C" void launcher(float* x, cudaStream_t stream) { reverse_all<<<1, 1, 0, stream>>>(x); }
"""
FILES = {
    "kernels/first.cu": FIRST,
    "kernels/second.cu": "__global__ void reverse_all(float* x) {}\n" + SECOND,
}
ASKS = {"model_new.py": "cuda_extension.kernel"}


@pytest.fixture(scope="module")
def module(toolchain: CpuToolchain) -> ModuleType:
    return load(toolchain, FILES | ASKS)


def load(toolchain: CpuToolchain, files: dict[str, str]) -> ModuleType:
    runtime = Runtime(toolchain.build(Submission.of(files)).library)
    return make_extension(
        parse_launchers(files),
        runtime.library,
        device=torch.device("cpu"),
        stream=lambda: 0,
        take_error=runtime.take_error,
        allowed_library=(),
        on_library_call=lambda name: None,
        kernels=parse_kernels(files),
    )


def test_grid_and_block_are_ints_or_tuples(module: ModuleType) -> None:
    out = torch.zeros(24, dtype=torch.int32)
    module.kernel("where")[(3, 4), (1, 2)](out, 7)
    assert out.tolist() == [7] * 24
    for value in (5, 6):
        module.kernel("where")[[3, 4], (1, 2)](out, value)
        assert out.tolist() == [value] * 24
    module.kernel("where")[3 * 4 * 2, 1](out, 7)
    module.kernel("where")[5, 1](out, -1)
    assert out.tolist() == [-1] * 5 + [7] * 19


def test_shared_memory_is_counted_in_bytes_and_may_be_large(module: ModuleType) -> None:
    for num_bytes in (4 * 64, 100 << 10):
        x = torch.arange(64.0)
        module.kernel("reverse")[1, 64, num_bytes](x, 64)
        assert x.tolist() == list(range(63, -1, -1))


def test_every_type_arrives(module: ModuleType) -> None:
    out, half = torch.empty(5, dtype=torch.float64), torch.tensor([0.5], dtype=torch.float16)
    module.kernel("mixed")[1, 1](out, half, True, 255, 2**40, 0.25)
    assert out.tolist() == [0.5, 1.0, 255.0, 2.0**40, 0.25]


X = torch.zeros(4)


@pytest.mark.parametrize(
    ("configuration", "kind", "facts"),
    [
        (256, TypeError, ["[grid, block]", "[256]"]),
        ((1, 2, 3, 4), TypeError, ["[grid, block]"]),
        ((3.5, 256), TypeError, ["the grid is 3.5", "(n + 255) // 256"]),
        ((1, (1, 2, 3, 4)), TypeError, ["the block is (1, 2, 3, 4)", "up to three"]),
        ((1, torch.zeros(1)), TypeError, ["the block is"]),
        ((0, 256), ValueError, ["the grid 0 has 0 along x", "launch nothing"]),
        (((1, 70_000), 256), ValueError, ["70,000 along y", "1 to 65,535", "several elements"]),
        ((1, 2048), ValueError, ["2,048 along x", "1 to 1,024", "more blocks"]),
        ((1, (64, 32)), ValueError, ["2,048 threads", "1,024", "smaller block"]),
        ((1, 1, 1.0), TypeError, ["shared_bytes is 1.0", "in bytes"]),
        ((1, 1, 300_000), ValueError, ["300,000 bytes", "232,448", "smaller tiles"]),
    ],
)
def test_what_no_device_would_launch_is_told_with_the_way_out(
    module: ModuleType, configuration: Any, kind: type[Exception], facts: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        module.kernel("reverse")[configuration](X, 4)
    for fact in ["kernel reverse", *facts]:
        assert fact in str(caught.value)


def test_what_this_device_refuses_is_told_by_its_runtime(module: ModuleType) -> None:
    with pytest.raises(RuntimeError, match=r"kernel reverse: .* threads along x"):
        module.kernel("reverse")[2**31 - 1, 1024](X, 4)


def test_arguments_are_checked_as_those_of_launchers(module: ModuleType) -> None:
    launch = module.kernel("reverse")[1, 4, 16]
    with pytest.raises(
        TypeError, match=r"kernel reverse takes 2 arguments, got 1\. Call it as kern"
    ):
        launch(X)
    with pytest.raises(
        TypeError, match=r"argument 1 \(float\* x\) of kernel reverse is a torch.float64"
    ):
        launch(X.double(), 4)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("revers", ["no __global__ function 'revers'", "Did you mean 'reverse'"]),
        ("nothing_like_it", ["There are: where, reverse, generic, reverse_all, mixed."]),
        ("generic", ["is a template", "generic<float><<<grid, block, 0, stream>>>"]),
        ("launcher", ["is a launcher", "cuda_extension.launcher(...)"]),
        (3, ["a str, got a int"]),
    ],
)
def test_a_name_that_is_no_kernel_is_answered(
    module: ModuleType, name: Any, facts: list[str]
) -> None:
    with pytest.raises(AttributeError) as caught:
        module.kernel(name)
    for fact in facts:
        assert fact in str(caught.value)


def test_a_kernel_taken_for_a_launcher_is_told_how_to_launch_it(module: ModuleType) -> None:
    with pytest.raises(
        AttributeError, match=r'call cuda_extension\.kernel\("where"\)\[grid, block\]'
    ):
        module.where(X, 4)
    with pytest.raises(TypeError, match="kernel where needs a grid and a block"):
        module.kernel("where")(X, 4)


def test_without_mention_of_a_kernel_there_are_no_entries(toolchain: CpuToolchain) -> None:
    with pytest.raises(CompileError, match="has no kernel where"):
        load(toolchain, FILES).kernel("where")


def test_an_error_stays_at_its_line_where_entries_are_added(toolchain: CpuToolchain) -> None:
    source = "__global__ void k(float* x) {\n  x[0] = y;\n}\n__global__ void l(Unknown* x) {}"
    with pytest.raises(CompileError) as caught:
        toolchain.build(Submission.of({"kernels/k.cu": source, **ASKS}))
    assert {(d.file, d.line) for d in caught.value.diagnostics} == {("kernels/k.cu", 2), ("kernels/k.cu", 4)}  # fmt: skip
