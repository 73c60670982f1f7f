"""Which sources need no compiler for the host."""

from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.kernel_only import host_code

KNOWN = frozenset({"cuda_fp16.h", "stdint.h"})
KERNEL = "__global__ void f(float* x) { x[0] = 1; }\n"


def found(text: str, **headers: str) -> str | None:
    return host_code({"kernels/a.cu": text} | headers, KNOWN)


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        f"#include <cuda_fp16.h>\n#include <stdint.h>\n#include <cuda/std/limits>\n{KERNEL}",
        f"template <typename T> __device__ __forceinline__ T twice(T x) {{ return x + x; }}\n{KERNEL}",
        f"#define DEVICE static __device__ inline\nDEVICE float half(float x) {{ return x / 2; }}\n{KERNEL}",
        f"__host__ __device__ int both() {{ return 1; }}\nusing T = float;\n{KERNEL}",
        f"struct Pair {{ float a; __device__ float sum() const {{ return a; }} }};\n{KERNEL}",
        f"__constant__ float table[] = {{1.0f, 2.0f}};\nenum Kind {{ A, B }};\n{KERNEL}",
        'namespace deep { extern "C" __global__ void __launch_bounds__(256) f(int* x) { x[0] = 1 << 3; } }',
        f"// launched as f<<<grid, block>>>(x)\n{KERNEL}",
    ],
)
def test_kernels_and_what_they_use_are_for_the_device(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (f'{KERNEL}extern "C" void launch(float* x) {{}}', "kernels/a.cu:2: function launch"),
        (f"{KERNEL}static int twice(int n) {{ return 2 * n; }}", "function twice"),
        (f"constexpr int twice(int n) {{ return 2 * n; }}\n{KERNEL}", "kernels/a.cu:1: function twice"),
        ("__global__ void f(float* x) {\n  f<<<1, 1>>>(x); }", "kernels/a.cu:2: a launch"),
        (f"#include <cub/cub.cuh>\n{KERNEL}", "kernels/a.cu:1: #include <cub/cub.cuh>"),
        (f'#include "/etc/passwd"\n{KERNEL}', 'kernels/a.cu:1: #include "/etc/passwd"'),
        (f"#define WHAT <stdint.h>\n#include WHAT\n{KERNEL}", "kernels/a.cu:2: #include WHAT"),
    ],
)  # fmt: skip
def test_what_is_for_the_host_is_told_with_its_place(text: str, fact: str) -> None:
    assert fact in (found(text) or "")


def test_a_header_of_the_submission_is_read_too() -> None:
    text = f'#include "deep/b.cuh"\n{KERNEL}'
    assert found(text, **{"kernels/deep/b.cuh": "#define B 1\n"}) is None
    assert "kernels/deep/b.cuh:1" in (found(text, **{"kernels/deep/b.cuh": "int f() {}"}) or "")
    assert "deep/b.cuh" in (found(text, **{"deep/b.cuh": ""}) or "")
