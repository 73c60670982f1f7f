"""Kernels cut into phases compute what fibers compute, or are not cut."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.judge.toolchains.cuda_on_cpu.random_kernels import kernels

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import build_library
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME, Runtime
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import runtime_library

Build = Callable[..., Runtime]


def modes(text: str) -> dict[str, Mode]:
    return dict(rewrite({"kernels/k.cu": text}).kernels)


def mode(body: str, *, before: str = "", parameters: str = "float* x, int n") -> Mode:
    text = f"{before}\n__global__ void k({parameters}) {{\n{body}\n}}\n"
    return modes(text)["k"]


@pytest.mark.parametrize(
    "body",
    [
        "__syncthreads();",
        "int t = threadIdx.x; x[t] = 1; __syncthreads(); x[t] += x[t + 1];",
        "for (int s = blockDim.x / 2; s > 0; s >>= 1) { if (threadIdx.x < s) x[0] += 1; __syncthreads(); }",
        "for (int i = 0; i < n; ++i) __syncthreads();",
        "if (n > 3) __syncthreads(); else x[threadIdx.x] = 2;",
        "int i = 0; while (i < n) { x[threadIdx.x] += i; __syncthreads(); i += blockDim.x; }",
        "int i = 0; do { ++i; __syncthreads(); } while (i < n);",
        "if (threadIdx.x >= n) return; __syncthreads(); x[threadIdx.x] = 1;",
        "__shared__ bool last; if (threadIdx.x == 0) last = n; __syncthreads(); if (last) { __syncthreads(); }",
        "float v = x[threadIdx.x]; v += __shfl_xor_sync(0xffffffff, v, 1); x[threadIdx.x] = v;",
        "int w = threadIdx.x >> 5; float v = 0; if (w == 0) { v += __shfl_down_sync(-1, v, 1); } x[0] = v;",
        "float a[4] = {}; for (int i = 0; i < n; ++i) { a[i & 3] += 1; __syncthreads(); } x[threadIdx.x] = a[0];",
        "x += blockIdx.x * n; __syncthreads(); x[threadIdx.x] = 1;",
        "#pragma unroll\nfor (int i = 0; i < 4; ++i) {\n#pragma unroll\n for (int j = 0; j < 2; ++j) x[j] = 1;\n __syncthreads(); }",
    ],
)
def test_barriers_that_the_whole_block_passes_cut_a_kernel(body: str) -> None:
    assert mode(body) is Mode.PHASES


@pytest.mark.parametrize(
    "body",
    [
        "if (threadIdx.x < n) __syncthreads();",
        "for (int i = threadIdx.x; i < n; ++i) __syncthreads();",
        "for (int i = 0; i < x[threadIdx.x]; ++i) __syncthreads();",
        "int m = n; if (threadIdx.x == 1) m = 2; for (int i = 0; i < m; ++i) __syncthreads();",
        "int m = n; int* p = &m; *p = threadIdx.x; for (int i = 0; i < m; ++i) __syncthreads();",
        "int m = n; int& r = m; r = threadIdx.x; for (int i = 0; i < m; ++i) __syncthreads();",
        "int m = n; if (n > 1) { int& r = m; r = threadIdx.x; } for (; m > 0; --m) __syncthreads();",
        "int m = n; (int&)m = threadIdx.x; for (int i = 0; i < m; ++i) __syncthreads();",
        "int m = n; reinterpret_cast<int&>(m) = threadIdx.x; while (m > 0) __syncthreads();",
        "Counter c; c.add(threadIdx.x); for (int i = 0; i < c.sum; ++i) __syncthreads();",
        "for (int i = 0; i < n; ++i) { if (threadIdx.x == i) break; __syncthreads(); }",
        "for (int i = 0; i < n; ++i) { if (threadIdx.x == i) continue; __syncthreads(); }",
        "for (int i = 0; i < 3; ++i) { if (x[i] > threadIdx.x) return; x[i] = 1; } __syncthreads();",
        "volatile float* v = x; v[0] += 1; __syncthreads();",
        "while (atomicCAS((int*)x, 0, 1) != 0) {} __syncthreads();",
        "again: __syncthreads(); if (n-- > 0) goto again;",
        "auto f = [&](int i) { __syncthreads(); }; f(1);",
        "auto v = x[threadIdx.x]; __syncthreads(); x[0] = v;",
        "float& v = x[threadIdx.x]; __syncthreads(); v = 1;",
        "while (__syncthreads_or(x[threadIdx.x] > 1)) x[threadIdx.x] -= 1;",
        "x[0] = n > 1 ? __shfl_sync(0xffffffff, n, 1) : 0;",
        "x[0] = __shfl_sync(0x0000ffff, n, 1);",
        "if (threadIdx.x < 16) x[0] = __shfl_sync(0xffffffff, n, 1);",
        "if (threadIdx.x >= n) return; x[0] = __shfl_sync(0xffffffff, n, 1); __syncthreads();",
        "#if 1\n__syncthreads();\n#endif",
        "switch (n) { case 1: __syncthreads(); }",
        "SYNC; x[threadIdx.x] = 1;",
        "float v = LANE; __syncthreads(); x[0] = v;",
        "float v = waits(); x[threadIdx.x] = v;",
        "cooperative_groups::this_thread_block().sync();",
    ],
)
def test_what_is_not_understood_is_left_to_fibers(body: str) -> None:
    before = (
        "struct Counter { int sum; __device__ void add(int i) { sum += i; } };\n"
        "#define SYNC __syncthreads()\n#define LANE (threadIdx.x & 31)\n"
        "__device__ float waits() { if (threadIdx.x) return 1; __syncthreads(); return 2; }"
    )
    assert mode(body, before=before) is Mode.FIBERS


@pytest.mark.parametrize(
    "launcher",
    [
        "void f(float* x) { auto p = k; p<<<1, 1>>>(x, 1); }",
        "template <class K> void f(K kernel) { kernel<<<1, 1>>>(nullptr, 1); }",
        "#define LAUNCH(name) name##_kernel<<<1, 1>>>(nullptr, 1)\n",
        "__global__ void k(int* x) { __syncthreads(); }",
    ],
)
def test_a_kernel_that_may_be_launched_otherwise_is_not_cut(launcher: str) -> None:
    text = f"__global__ void k(float* x, int n) {{ __syncthreads(); }}\n{launcher}\n"
    assert Mode.PHASES not in modes(text).values()


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] = 1;", Mode.ROUNDS),
        ("int t = threadIdx.x; for (int i = t; i < n; i += blockDim.x) x[i] = 1;", Mode.ROUNDS),
        ("int s = gridDim.x * 32; for (size_t i = threadIdx.x; i <= n; i = i + s) { x[i] = 1; }", Mode.ROUNDS),
        ("for (int i = n - threadIdx.x; i < n; i += blockDim.x) x[i] = 1;", Mode.LOOP),
        ("for (int i = threadIdx.x; i < n; i += threadIdx.x) x[i] = 1;", Mode.LOOP),
        ("for (int i = threadIdx.x; i < n; i += blockDim.x) { if (x[i] > 1) break; }", Mode.LOOP),
        ("for (int i = threadIdx.x; i < n; i += blockDim.x) { x[i] = 1; i += 2; }", Mode.LOOP),
        ("for (int i = threadIdx.x; i < n - i; i += blockDim.x) x[i] = 1;", Mode.LOOP),
    ],
)  # fmt: skip
def test_loops_with_the_stride_of_a_block_become_rounds(loop: str, expected: Mode) -> None:
    assert mode(loop) is expected


def test_every_line_stays_a_line() -> None:
    text = (
        "__global__ void k(float* x, int n) {\n  int t = threadIdx.x,\n      u = 1;\n  x[t] = u;\n"
        "  __syncthreads(\n  );\n  for (int i = t;\n   i < n;\n   i += blockDim.x)\n    x[i] = 1;\n"
        "}\nint line_12;\n"
    )
    lines = rewrite({"kernels/k.cu": text}).files["kernels/k.cu"].text.splitlines()
    assert lines[11] == "int line_12;"
    assert len(lines) == len(text.splitlines())


@pytest.fixture(scope="module")
def build(cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds a file with or without cutting its kernels."""

    def built(text: str, *, cuts: bool) -> Runtime:
        compiler = find_compiler()
        runtime = runtime_library(BuildCache(cache_folder), compiler)
        folder = tmp_path_factory.mktemp("fission")
        (folder / RUNTIME_NAME).symlink_to(runtime)
        program = rewrite({"kernels/k.cu": text}, cuts=cuts)
        library = folder / "kernels.so"
        build_library(compiler, program, library, runtime, time.monotonic() + 60)
        return Runtime(str(library))

    return built


def require_the_same(build: Build, text: str) -> None:
    """Phases and fibers compute the same of a kernel."""
    cut, uncut = build(text, cuts=True), build(text, cuts=False)
    x = np.random.default_rng(0).integers(-50, 50, 512).astype(np.int32)
    for threads, n, m in ((128, 300, 1), (64, 41, 0), (40, 17, 5)):
        results = [np.full(3 * threads, -1, np.int32) for _ in range(2)]
        for runtime, y in zip((cut, uncut), results, strict=True):
            runtime.library.run(
                *map(ctypes.c_void_p, (x.ctypes.data, y.ctypes.data)), n, m, threads
            )
            assert runtime.take_error() is None
        np.testing.assert_array_equal(results[0], results[1])


BUILT = settings(
    deadline=None,
    database=None,
    # A failure is told as it is found: each step of making it smaller would be a build.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@settings(BUILT, max_examples=6, derandomize=True)
@given(text=kernels())
def test_phases_compute_what_fibers_compute(build: Build, text: str) -> None:
    require_the_same(build, text)


@pytest.mark.slow
@settings(BUILT, max_examples=40)
@given(text=kernels())
def test_phases_of_more_kernels_compute_what_fibers_compute(build: Build, text: str) -> None:
    require_the_same(build, text)


def test_a_cut_that_does_not_compile_is_not_made(compile_source: Callable[[str], Any]) -> None:
    program = compile_source(
        "struct Seven { float v; __device__ Seven() : v(7) {} };\n"
        "__global__ void k(float* x) { Seven own; __syncthreads(); x[threadIdx.x] = own.v; }\n"
        'extern "C" void run(float* x) { k<<<1, 32>>>(x); }\n'
    )
    x = np.zeros(32, np.float32)
    program("run", x)
    assert (x == 7).all()
    assert [kernel.mode for kernel in program.build.kernels] == ["fibers"]


def test_an_error_in_a_kernel_that_could_be_cut_is_told_in_its_own_line(
    compile_source: Callable[[str], Any],
) -> None:
    with pytest.raises(CompileError) as error:
        compile_source("__global__ void k(float* x) {\n  __syncthreads();\n  x[0] = missing;\n}\n")
    assert error.value.diagnostics[0].line == 3
    assert "missing" in error.value.diagnostics[0].message
    assert "cuda_on_cpu" not in str(error.value)


def test_cutting_a_kernel_brings_no_warnings(compile_source: Callable[[str], Any]) -> None:
    program = compile_source(
        "__global__ void k(float* x, int n) {\n  __shared__ float s[64];\n  int t = threadIdx.x;\n"
        "  float later, own[4];\n  if (t >= n) return;\n  s[t] = x[t];\n  __syncthreads();\n"
        "  for (int i = t; i < n; i += blockDim.x) own[i & 3] = s[i];\n  __syncthreads();\n"
        "  later = own[t & 3];\n  __syncthreads();\n  x[t] = later;\n}\n"
        'extern "C" void run(float* x) { k<<<1, 64>>>(x, 60); }\n'
    )
    assert program.build.diagnostics == ()
    assert [kernel.mode for kernel in program.build.kernels] == ["phases"]
