"""What phases keep for each other, kernel by kernel, against the same kernels as fibers."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np
import pytest

from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.compiler import find_compiler
from cuda_gym.judge.toolchains.cuda_on_cpu.native_build import build_library
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import RUNTIME_NAME, Runtime
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime_build import runtime_library

BODIES = {
    "an inner name hides a kept one": "int v = t; { float v = 2; x[t] += v; } __syncthreads(); x[t] += v;",
    "the counter of a loop and a variable share a name": (
        "for (int i = 0; i < 2; ++i) { int v = t + i; __syncthreads(); x[t] += v; } "
        "int v = t * 3; __syncthreads(); x[t] += v;"
    ),
    "a parameter becomes different for each thread": "n += t; __syncthreads(); x[t] = n;",
    "a pointer of each thread": "const float* p = x + t; __syncthreads(); float q = *p; __syncthreads(); x[t] = q + 1;",
    "a pointer to a variable of the thread": "float a = t; float* p = &a; __syncthreads(); *p += 1; __syncthreads(); x[t] = a;",
    "a number of rounds from memory": (
        "int lim = (int)x[0]; for (int i = 0; i < lim; ++i) { x[64 + t] += i; __syncthreads(); }"
    ),
    "neighbours are read before they are written": (
        "float old = x[(t + 1) % 64]; __syncthreads(); x[t] = old; __syncthreads(); "
        "old = x[(t + 1) % 64]; __syncthreads(); x[t] += old;"
    ),
    "what a derived variable was made of changes": "int k = 0; int i = t + k; k = 5; __syncthreads(); x[t] = i + k;",
    "continue in a loop of the block": (
        "for (int k = 0; k < 4; ++k) { int i = (t + k) % 64; x[t] += i; __syncthreads(); "
        "if (k == 2) continue; x[i] *= 2; __syncthreads(); }"
    ),
    "while and break": (
        "int i = n; while (i > 10) { x[t] += i; __syncthreads(); i -= 20; if (i == 20) break; "
        "__syncthreads(); }"
    ),
    "do": "int i = 0; do { x[t] += i; __syncthreads(); i += 2; } while (i < 6);",
    "branches of the block": (
        "if (n > 50) { x[t] = 1; __syncthreads(); x[t] += 1; } else if (n > 20) { x[t] = 5; "
        "__syncthreads(); } else x[t] = 9;"
    ),
    "threads return in two places": (
        "if (t > 40) return; x[t] += 1; __syncthreads(); if (t < 3) { x[t] = 7; return; } "
        "__syncthreads(); x[t] += 10;"
    ),
    "a loop with the stride of the block": (
        "float s = 0; for (int i = t; i < n; i += blockDim.x) s += x[i % 256]; "
        "__syncthreads(); x[t] = s;"
    ),
    "arrays of each thread": (
        "float a[3] = {1, 2, 3}; float b[2]; a[t % 3] += t; __syncthreads(); b[0] = a[0]; "
        "b[1] = a[1] + a[2]; __syncthreads(); x[t] = b[0] * b[1];"
    ),
    "several variables in one declaration": (
        "int a = t, b = n, c = a + b; __syncthreads(); x[t] = a + b * c; a = b; "
        "__syncthreads(); x[t] += a;"
    ),
    "a ballot": "unsigned m = __ballot_sync(~0u, t % 3 == 0); x[t] = __popc(m) + (m >> (t & 31) & 1);",
    "a scan by shuffles": (
        "float v = t; for (int d = 1; d < 32; d *= 2) { "
        "float o = __shfl_up_sync(0xffffffff, v, d); if ((t & 31) >= d) v += o; } x[t] = v;"
    ),
    "a shuffle of 64 bits": "double v = t * 0.5; v += __shfl_xor_sync(0xffffffff, v, 3); x[t] = v;",
    "a double buffer": (
        "__shared__ float buf[2][64]; int cur = 0; buf[0][t] = x[t]; __syncthreads(); "
        "for (int d = 1; d < 64; d <<= 1) { "
        "buf[1 - cur][t] = buf[cur][t] + (t >= d ? buf[cur][t - d] : 0); cur = 1 - cur; "
        "__syncthreads(); } x[t] = buf[cur][t];"
    ),
    "pointers that swap": (
        "__shared__ float p0[64], p1[64]; float* a = p0; float* b = p1; a[t] = x[t]; "
        "__syncthreads(); for (int k = 0; k < 3; ++k) { b[t] = a[(t + 1) % 64] * 2; "
        "__syncthreads(); float* h = a; a = b; b = h; } x[t] = a[t];"
    ),
    "a vector of four": (
        "float4 v = make_float4(t, 1, 2, 3); __syncthreads(); v.x += 1; __syncthreads(); "
        "x[t] = v.x + v.w;"
    ),
}
TEXT = "".join(
    f"__global__ void k{i}(float* x, int n) {{ const int t = threadIdx.x; {body} }}\n"
    f'extern "C" void f{i}(float* x, int n) {{ k{i}<<<1, 64>>>(x, n); }}\n'
    for i, body in enumerate(BODIES.values())
)


@pytest.fixture(scope="module")
def runtimes(cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Runtime]:
    """All kernels, as phases and as fibers."""
    compiler = find_compiler()
    runtime = runtime_library(BuildCache(cache_folder), compiler)
    built = []
    for cuts in (True, False):
        folder = tmp_path_factory.mktemp("phases")
        (folder / RUNTIME_NAME).symlink_to(runtime)
        program = rewrite({"kernels/k.cu": TEXT}, cuts=cuts)
        library = folder / "kernels.so"
        build_library(compiler, program, library, runtime, time.monotonic() + 60)
        built.append(Runtime(library))
    return built


def test_all_of_these_kernels_run_as_phases() -> None:
    program = rewrite({"kernels/k.cu": TEXT})
    assert set(program.kernels.values()) == {Mode.PHASES}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("n", [7, 37, 60, 200])
def test_nothing_is_lost_between_phases(runtimes: list[Runtime], what: str, n: int) -> None:
    results = []
    for runtime in runtimes:
        x = (np.arange(1024) % 17).astype(np.float32)
        getattr(runtime.library, f"f{list(BODIES).index(what)}")(ctypes.c_void_p(x.ctypes.data), n)
        assert runtime.take_error() is None
        results.append(x)
    np.testing.assert_array_equal(results[0], results[1])
