from __future__ import annotations

import pytest

from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

REFUSED = [
    ('__device__ void f() { asm volatile("bar.sync 0;"); }', "inline PTX"),
    ("void f() { nvcuda::wmma::bmma_sync(d, a, b, c); }", "wmma of less than 8 bits"),
    ("using namespace nvcuda::wmma::experimental;", "wmma of less than 8 bits"),
    ("__device__ float f(cudaTextureObject_t t) { return tex1Dfetch<float>(t, 0); }", "texture"),
    ("__global__ void k() { cooperative_groups::this_grid().sync(); }", "synchronising a grid"),
    ("void f() { cudaLaunchCooperativeKernel(0, 1, 1, 0); }", "synchronising a grid"),
    ("__global__ void __cluster_dims__(2) k() {}", "cluster"),
    ("void f() { cudaLaunchKernelEx(0, 0); }", "launching through a function call"),
    ("void f() { cudaGraph_t g; }", "CUDA graphs"),
    ("void f() { cudaArray_t a; }", "texture"),
    ("void f() { cuInit(0); }", "the driver's own interface"),
    ("#include <cuda/barrier>", "this CUDA header (cuda/barrier)"),
    ("__global__ void k() { __pipeline_arrive_on(b); }", "asynchronous copying"),
    ("__global__ void k() { cuda::pipeline<cuda::thread_scope_thread> p; }", "asynchronous"),
    ("#include <cub/device/device_scan.cuh>", "this part of CUB (cub/device/device_scan.cuh)"),
    ("void f() { cub::DeviceScan::InclusiveSum(0, n, x, y, 1); }", "this part of CUB"),
    ("__global__ void k() { thrust::plus<int> p; }", "a CUDA library"),
    ("#include <cublas_v2.h>", "a CUDA library (cublas_v2.h)"),
    ("#include <cudnn.h>", "a CUDA library (cudnn.h)"),
    ("#include <curand_kernel.h>", "a CUDA library (curand_kernel.h)"),
    ('#include "cutlass/gemm.h"', "a CUDA library (cutlass/gemm.h)"),
    ("#include <torch/extension.h>", "a PyTorch or Python header (torch/extension.h)"),
    ("#include <ATen/cuda/CUDAContext.h>", "a PyTorch or Python header"),
    ("#include <c10/util/Half.h>", "a PyTorch or Python header"),
    ("__global__ void k() { k<<<1, 1>>>(); }", "launching a kernel from a kernel"),
]


@pytest.mark.parametrize(("text", "feature"), REFUSED)
def test_what_the_device_has_not_is_refused_with_its_line(text: str, feature: str) -> None:
    with pytest.raises(UnsupportedOnDevice) as refusal:
        rewrite({"kernels/ok.cu": "int x;\n", "kernels/k.cu": f"// 1\n\n{text}\n"})
    first = refusal.value.diagnostics[0]
    assert (first.file, first.line) == ("kernels/k.cu", 3)
    assert feature in first.message
    assert " is not available on the cpu device; " in first.message
    assert str(refusal.value).startswith("kernels/k.cu:3: ")


def test_a_torch_header_is_answered_with_the_launcher() -> None:
    with pytest.raises(UnsupportedOnDevice, match='write an extern "C" launcher'):
        rewrite({"kernels/k.cu": "#include <torch/extension.h>\n"})


def test_every_place_is_told() -> None:
    text = "#include <cudnn.h>\nint x;\n#include <thrust/scan.h>\n"
    with pytest.raises(UnsupportedOnDevice, match=r"\(and 1 more\)") as refusal:
        rewrite({"kernels/k.cu": text})
    assert [d.line for d in refusal.value.diagnostics] == [1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "// asm(...)\n/* wmma:: */\n",
        'const char* s = "asm(";\n',
        '#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\nvoid f() { asm(""); }\n#else\nint x;\n#endif\n',
        '#ifdef __CUDA_ARCH__\nvoid f() { asm(""); }\n#endif\n',
        "#if 0\n#include <cudnn.h>\n#if 1\n#include <thrust/scan.h>\n#endif\n#endif\nint y;\n",
        "#if 1\nint x;\n#else\n#include <cudnn.h>\n#endif\n",
        "int assembly, this_grid_size, wmma;\n",
        "#include <mma.h>\nusing namespace nvcuda;\nvoid f() { wmma::mma_sync(d, a, b, c); }\n",
        "#include <cub/block/block_scan.cuh>\nusing Scan = cub::BlockScan<int, 32>;\n",
        "__global__ void k() { __pipeline_commit(); }\n",
        "__global__ void k() { if (1) {\n}\nvoid f() { k<<<1, 1>>>(); }\n",
    ],
)
def test_what_does_not_reach_the_device_is_not_refused(text: str) -> None:
    rewrite({"kernels/k.cu": text})


@pytest.mark.parametrize(
    "condition", ["#ifndef __CUDA_ARCH__", "#if USE_IT", "#if !defined(__CUDA_ARCH__)"]
)
def test_what_may_reach_the_device_is_refused(condition: str) -> None:
    with pytest.raises(UnsupportedOnDevice):
        rewrite({"kernels/k.cu": f"{condition}\n#include <cudnn.h>\n#endif\n"})


@pytest.mark.parametrize(
    "include",
    ['"/etc/passwd"', "</etc/passwd>", '"../../etc/passwd"', "<../../../etc/passwd>", "NAME"],
)
def test_an_include_may_not_leave_the_submission(include: str) -> None:
    with pytest.raises(CompileError, match="not allowed") as error:
        rewrite({"kernels/k.cu": f"int x;\n#include {include}\n"})
    assert error.value.diagnostics[0].line == 2


def test_names_of_the_device_itself_are_not_for_submissions() -> None:
    with pytest.raises(
        CompileError, match=r"kernels/k.cu:2: error: the name 'cuda_on_cpu' is not allowed"
    ):
        rewrite({"kernels/k.cu": 'int x;\nextern "C" int cuda_on_cpu_launch(void*);\n'})


def test_a_program_may_launch_a_kernel_from_a_kernel_and_not_wait_for_it() -> None:
    launching = "__global__ void k(int n) { if (n) k<<<1, 1>>>(n - 1); }"
    assert "k" in rewrite({"k.cu": launching}, is_submission=False).kernels
    waiting = launching.replace("- 1);", "- 1);\ncudaDeviceSynchronize();")
    with pytest.raises(UnsupportedOnDevice, match="waiting inside a kernel for a grid"):
        rewrite({"k.cu": waiting}, is_submission=False)
