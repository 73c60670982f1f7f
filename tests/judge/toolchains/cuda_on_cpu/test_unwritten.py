"""Variables that are read before they are written, in kernels of every mode."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.cuda_on_cpu.unwritten import arrays_written_first
from cuda_gym.judge.toolchains.cuda_source import Source

KERNELS = """\
#include <cuda_runtime.h>

__global__ void by_thread(float* out, const float* x) {
    float sum;
    for (int i = 0; i < 8; ++i) sum += x[i];
    out[threadIdx.x] = sum;
}

__global__ void by_lanes(float* out, const float* x) {
    float lanes[4];
    for (int i = 0; i < 8; i += 4)
        for (int lane = 0; lane < 4; ++lane) lanes[lane] += x[i + lane];
    out[threadIdx.x] = lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

__global__ void by_block(float* out, const float* x) {
    __shared__ float tile[8];
    float sum;
    float most[2];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += tile[i];
    if (threadIdx.x > 3) most[0] = sum;
    __syncthreads();
    out[threadIdx.x] = fmaxf(most[0], most[1]) + sum;
}

__global__ void by_fibers(float* out, const float* x) {
    float sum;
    for (int i = 0; i < 8; ++i) sum += x[i];
    if (threadIdx.x < 4) sum += __shfl_down_sync(0xf, sum, 1);
    out[threadIdx.x] = sum;
}

__global__ void written(float* out, const float* x) {
    float value;
    float lanes[2];
    value = x[0];
    for (int lane = 0; lane < 2; ++lane) lanes[lane] = x[lane];
    __syncthreads();
    out[threadIdx.x] = value + lanes[0] + lanes[1];
}
"""
MODES = {
    "by_thread": "loop",
    "by_lanes": "loop",
    "by_block": "phases",
    "by_fibers": "fibers",
    "written": "phases",
}
LAUNCHERS = "".join(
    f'extern "C" void launch_{name}(float* out, const float* x, cudaStream_t stream) {{'
    f" {name}<<<1, 8, 0, stream>>>(out, x); }}\n"
    for name in MODES
)


@pytest.fixture(scope="module")
def runtime(cache_folder: Path) -> Runtime:
    submission = Submission.of({"model_new.py": "", "kernels/k.cu": KERNELS + LAUNCHERS})
    build = CpuToolchain(BuildCache(cache_folder)).build(submission)
    assert {k.name: k.mode for k in build.kernels} == MODES
    return Runtime(build.library)


def output(runtime: Runtime, name: str) -> list[float]:
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    launch = getattr(runtime.library, f"launch_{name}")
    launch(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(x.ctypes.data), None)
    assert runtime.take_error() is None
    return [float(value) for value in out]


@pytest.mark.parametrize("name", ["by_thread", "by_lanes", "by_block", "by_fibers"])
def test_what_starts_from_anything_comes_to_nothing_plausible(runtime: Runtime, name: str) -> None:
    assert not any(abs(value) < 1e30 for value in output(runtime, name))


def test_what_is_written_before_it_is_read_is_right(runtime: Runtime) -> None:
    assert output(runtime, "written") == [3.0] * 8


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float a[4]; a[0] = 1;", ["a[4]"]),
        ("float a[4][2]; for (;;) a[i][j] = 1;", ["a[4][2]"]),
        ("float2 a[4]; a[0].x = 1;", ["a[4]"]),
        ("float a[4]; a[0] += 1;", []),
        ("float a[4]; if (a[0] == 1) f();", []),
        ("float a[4]; fill(a);", []),
        ("for (;;) { float a[4], b[2]; fill(a, 2); b[0] += a[0]; }", ["a[4]"]),
        ("__shared__ float a[4]; a[0] = 1;", []),
        ("float a[4] = {}; a[0] = 1;", []),
        ("if (n) return a[4]; a[4] = 1;", []),
        ("else a[4]; x = a[4]; a[4] = 1;", []),
    ],
)
def test_arrays_that_are_written_first_stay_as_they_are(body: str, expected: list[str]) -> None:
    source = Source("k.cu", f"__global__ void k(float* x) {{ {body} }}")
    found = [source.text[:offset].split()[-1] for offset in arrays_written_first(source)]
    assert found == expected
