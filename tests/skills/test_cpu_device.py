"""What the page `cpu_device` says of loops, phases and fibers."""

from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

KERNEL = """\
#include <cuda_runtime.h>
{outside}
__global__ void kernel(float* out, const float* x, int n) {{
    __shared__ float tile[256];
    const int t = threadIdx.x;
    {body}
}}
"""
PASS = "tile[t] = x[t]; __syncthreads(); out[t] = tile[255 - t];"
PHASES = {
    "a barrier at the top": PASS,
    "a barrier in a loop that is the same for all threads": "for (int i = 0; i < n; ++i) { tile[t] = x[i]; __syncthreads(); out[t] += tile[255 - t]; __syncthreads(); }",
    "a condition on the block": f"if (blockIdx.x < 3) {{ {PASS} }}",
    "a tree": "tile[t] = x[t]; __syncthreads(); for (int s = 128; s > 0; s /= 2) { if (t < s) tile[t] += tile[t + s]; __syncthreads(); } if (t == 0) out[0] = tile[0];",
    "a shuffle of all lanes": "float v = x[t]; v += __shfl_xor_sync(0xffffffff, v, 1); out[t] = v;",
    "a shuffle of one warp": "const int warp = threadIdx.x / 32; if (warp == 0) { float v = x[t]; v += __shfl_down_sync(0xffffffff, v, 1); out[t] = v; }",
    "an early return behind the last warp operation": "tile[t] = x[t]; __syncthreads(); if (t >= n) return; out[t] = tile[t];",
    "an array of accumulators": "float acc[4] = {}; tile[t] = x[t]; __syncthreads(); for (int i = 0; i < 4; ++i) acc[i] += tile[i]; __syncthreads(); out[t] = acc[t % 4];",
}
FIBERS = {
    "a barrier behind a condition on the thread": f"if (t < n) {{ {PASS} }}",
    "auto across a barrier": "auto v = x[t]; tile[t] = v; __syncthreads(); out[t] = tile[255 - t] + v;",
    "a mask of some lanes": "float v = x[t]; v += __shfl_xor_sync(0xffff, v, 1); out[t] = v;",
    "a mask in a variable": "const unsigned all = n; float v = x[t]; v += __shfl_xor_sync(all, v, 1); out[t] = v;",
    "a volatile variable": "volatile float v = x[t]; tile[t] = v; __syncthreads(); out[t] = tile[255 - t] + v;",
    "a lambda": f"auto f = [](float a) {{ return a; }}; {PASS} out[t] = f(out[t]);",
}


def mode_of(body: str, outside: str = "") -> Mode:
    program = rewrite({"kernels/k.cu": KERNEL.format(body=body, outside=outside)})
    return program.kernels["kernel"]


@pytest.mark.parametrize("what", PHASES)
def test_this_runs_as_phases(what: str) -> None:
    assert mode_of(PHASES[what]) is Mode.PHASES


@pytest.mark.parametrize("what", FIBERS)
def test_this_runs_as_fibers(what: str) -> None:
    assert mode_of(FIBERS[what]) is Mode.FIBERS


def test_a_kernel_without_waiting_is_a_loop() -> None:
    assert mode_of("if (t < n) out[t] = x[t];") not in {Mode.PHASES, Mode.FIBERS}


def test_a_constant_counts_where_it_is_declared_alone() -> None:
    loop = "for (int i = 0; i < n; i += STEP) { tile[t] = x[i]; __syncthreads(); out[t] = tile[0]; __syncthreads(); }"
    assert mode_of(loop, "constexpr int STEP = 2;") is Mode.PHASES
