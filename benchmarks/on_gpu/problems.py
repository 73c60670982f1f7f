"""Tasks and submissions that the benchmarks of the `cuda` device share, in any size.

The same sources run on `cpu`, where the sizes are small. `fresh` gives a submission text that no cache
has seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from cuda_gym.core.task import Submission, Task

__all__ = ["Problem", "bias_gelu", "fresh", "kernel_only", "matmul", "relu", "row_sum", "softmax"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A task, and something right to hand in for it."""

    name: str
    task: Task
    submission: Submission


def relu(rows: int = 256, columns: int = 393_216, *, threads: int = 256, items: int = 4) -> Problem:
    """KernelBench's ReLU (level 1, number 19), with fewer rows."""
    return _problem(
        f"relu {rows} x {columns}",
        _RELU_TASK.format(rows=rows, columns=columns),
        _MODEL.format(init="", fields="", call="relu(out, x, x.numel())"),
        _RELU.format(threads=threads, items=items),
    )


def softmax(
    rows: int = 8192, columns: int = 4096, *, threads: int = 256, items: int = 1
) -> Problem:
    """softmax(x * scale + bias), the three in one kernel."""
    return _problem(
        f"fused softmax {rows} x {columns}",
        _SOFTMAX_TASK.format(rows=rows, columns=columns),
        _MODEL.format(
            init=", columns: int",
            fields=_PARAMETERS.format("scale", "columns") + _PARAMETERS.format("bias", "columns"),
            call="fused_softmax(out, x, self.scale, self.bias, x.shape[0], x.shape[1])",
        ),
        _SOFTMAX.format(threads=threads, items=items),
    )


def bias_gelu(rows: int, columns: int, *, threads: int = 256, items: int = 4) -> Problem:
    """gelu(x + bias): memory and nothing else."""
    return _problem(
        f"bias + gelu {rows} x {columns}",
        _GELU_TASK.format(rows=rows, columns=columns),
        _MODEL.format(
            init=", columns: int",
            fields=_PARAMETERS.format("bias", "columns"),
            call="bias_gelu(out, x, self.bias, x.shape[0], x.shape[1])",
        ),
        _GELU.format(threads=threads, items=items),
    )


def row_sum(rows: int, columns: int, *, threads: int = 256, items: int = 1) -> Problem:
    """The sum of each row, a block a row."""
    return _problem(
        f"row sum {rows} x {columns}",
        _SUM_TASK.format(rows=rows, columns=columns),
        _MODEL.format(init="", fields="", call="row_sum(out, x, x.shape[0], x.shape[1])").replace(
            "torch.empty_like(x)", "torch.empty(x.shape[0], device=x.device, dtype=x.dtype)"
        ),
        _SUM.format(threads=threads, items=items),
    )


def matmul(size: int = 1024) -> Problem:
    """gelu(x @ weight.T + bias), square, in float32."""
    return _problem(
        f"matmul {size}^3 + bias + gelu",
        _MATMUL_TASK.format(size=size),
        _MODEL.format(
            init=", features: int",
            fields=_PARAMETERS.format("weight", "features, features")
            + _PARAMETERS.format("bias", "features"),
            call="linear_gelu(out, x, self.weight, self.bias, x.shape[0], x.shape[1], out.shape[1])",
        ).replace("torch.empty_like(x)", "torch.empty(x.shape[0], self.bias.shape[0], "
                  "device=x.device, dtype=x.dtype)"),
        _MATMUL,
    )  # fmt: skip


def kernel_only(rows: int = 256, columns: int = 4096) -> Problem:
    """ReLU in a file without host code, launched from Python."""
    problem = relu(rows, columns)
    model = (problem.submission.text("model_new.py") or "").replace(
        "cuda_extension.relu(out, x, x.numel())",
        'cuda_extension.kernel("relu_kernel")[(x.numel() + 1023) // 1024, 256](out, x, x.numel())',
    )
    kernel = _RELU.format(threads=256, items=4).partition('extern "C"')[0]
    files = {"model_new.py": model, "kernels/relu.cu": kernel}
    return replace(problem, name="kernel-only relu", submission=Submission.of(files))


def fresh(submission: Submission) -> Submission:
    """The same submission in a text that was never compiled."""
    mark = f"// build {time.time_ns()}\n"
    return Submission.of(
        {path: mark + text if path.endswith(".cu") else text for path, text in submission.files}
    )


def _problem(name: str, source: str, model: str, kernel: str) -> Problem:
    return Problem(
        name=name,
        task=Task(id=f"bench/{name.replace(' ', '_')}", title=name, source=source),
        submission=Submission.of({"model_new.py": model, "kernels/kernel.cu": kernel}),
    )


_MODEL = """\
import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self{init}) -> None:
        super().__init__()
{fields}
    def forward(self, x):
        out = torch.empty_like(x)
        cuda_extension.{call}
        return out
"""
_PARAMETERS = "        self.{} = nn.Parameter(torch.empty({}))\n"

_RELU_TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


batch_size = {rows}
dim = {columns}


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
"""

_RELU = """\
#include <cuda_runtime.h>

__global__ void relu_kernel(float* __restrict__ out, const float* __restrict__ x, long n) {{
    long i = (long)blockIdx.x * blockDim.x * {items} + threadIdx.x;
#pragma unroll
    for (int item = 0; item < {items}; ++item, i += blockDim.x)
        if (i < n) out[i] = x[i] < 0.0f ? 0.0f : x[i];
}}

extern "C" void relu(float* out, const float* x, long n, cudaStream_t stream) {{
    const long each = {threads} * {items};
    relu_kernel<<<(n + each - 1) / each, {threads}, 0, stream>>>(out, x, n);
}}
"""

_SOFTMAX_TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(columns) + 0.5)
        self.bias = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return torch.softmax(x * self.scale + self.bias, dim=-1)


rows = {rows}
columns = {columns}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
"""

_SOFTMAX = """\
#include <cuda_runtime.h>

// A block a row. Each pass reads the row again: from the second on it lies in a cache.
__device__ float reduced(float value, bool take_maximum, float* shared) {{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {{
        if (threadIdx.x < half) {{
            const float other = shared[threadIdx.x + half], own = shared[threadIdx.x];
            shared[threadIdx.x] = take_maximum ? fmaxf(own, other) : own + other;
        }}
        __syncthreads();
    }}
    const float result = shared[0];
    __syncthreads();
    return result;
}}

__global__ void fused_softmax_kernel(float* __restrict__ out, const float* __restrict__ x,
                                     const float* __restrict__ scale,
                                     const float* __restrict__ bias, int columns) {{
    __shared__ float shared[{threads}];
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        largest = fmaxf(largest, fmaf(x[i], scale[i], bias[i]));
    largest = reduced(largest, true, shared);
    float sum = 0.0f;
#pragma unroll {items}
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(fmaf(x[i], scale[i], bias[i]) - largest);
    sum = reduced(sum, false, shared);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[i] = expf(fmaf(x[i], scale[i], bias[i]) - largest) / sum;
}}

extern "C" void fused_softmax(float* out, const float* x, const float* scale, const float* bias,
                              int rows, int columns, cudaStream_t stream) {{
    fused_softmax_kernel<<<rows, {threads}, 0, stream>>>(out, x, scale, bias, columns);
}}
"""

_GELU_TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return nn.functional.gelu(x + self.bias, approximate="tanh")


rows = {rows}
columns = {columns}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
"""

_GELU_FUNCTION = """\
#include <cuda_runtime.h>

__device__ float gelu(float y) {
    return y / (1.0f + expf(-1.5957691216057308f * (y + 0.044715f * y * y * y)));
}

"""

_GELU = (
    _GELU_FUNCTION.replace("{", "{{").replace("}", "}}")
    + """\
__global__ void bias_gelu_kernel(float* __restrict__ out, const float* __restrict__ x,
                                 const float* __restrict__ bias, int columns) {{
    const size_t row = (size_t)blockIdx.y * columns;
    int i = blockIdx.x * blockDim.x * {items} + threadIdx.x;
#pragma unroll
    for (int item = 0; item < {items}; ++item, i += blockDim.x)
        if (i < columns) out[row + i] = gelu(x[row + i] + bias[i]);
}}

extern "C" void bias_gelu(float* out, const float* x, const float* bias, int rows, int columns,
                          cudaStream_t stream) {{
    const int each = {threads} * {items};
    const dim3 grid((columns + each - 1) / each, rows);
    bias_gelu_kernel<<<grid, {threads}, 0, stream>>>(out, x, bias, columns);
}}
"""
)

_SUM_TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.sum(dim=-1)


rows = {rows}
columns = {columns}


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""

_SUM = """\
#include <cuda_runtime.h>

__global__ void row_sum_kernel(float* __restrict__ out, const float* __restrict__ x, int columns) {{
    __shared__ float shared[{threads}];
    x += (size_t)blockIdx.x * columns;
    float sums[4] = {{}};
#pragma unroll {items}
    for (int i = threadIdx.x; i < columns; i += 4 * blockDim.x)
#pragma unroll
        for (int part = 0; part < 4; ++part)
            if (i + part * blockDim.x < columns) sums[part] += x[i + part * blockDim.x];
    shared[threadIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    __syncthreads();
    for (int half = {threads} / 2; half > 0; half /= 2) {{
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }}
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}}

extern "C" void row_sum(float* out, const float* x, int rows, int columns, cudaStream_t stream) {{
    row_sum_kernel<<<rows, {threads}, 0, stream>>>(out, x, columns);
}}
"""

_MATMUL_TASK = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, features) / features**0.5)
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return nn.functional.gelu(
            nn.functional.linear(x, self.weight, self.bias), approximate="tanh"
        )


features = {size}


def get_inputs():
    return [torch.randn(features, features)]


def get_init_inputs():
    return [features]
"""

_MATMUL = (
    _GELU_FUNCTION
    + """\
constexpr int TILE = 64, DEPTH = 16, EACH = 4, SIDE = TILE / EACH;

// A block makes a tile of 64 x 64, a thread 4 x 4 of it; both operands lie along their depth.
__global__ void linear_gelu_kernel(float* __restrict__ out, const float* __restrict__ x,
                                   const float* __restrict__ weight, const float* __restrict__ bias,
                                   int rows, int depth, int columns) {
    __shared__ float left[DEPTH][TILE + 4], right[DEPTH][TILE + 4];
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float sums[EACH][EACH] = {};
    for (int from = 0; from < depth; from += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            const int line = i / DEPTH, k = i % DEPTH;
            const bool inside = from + k < depth;
            left[k][line] = inside && row + line < rows ? x[(size_t)(row + line) * depth + from + k] : 0.0f;
            right[k][line] =
                inside && column + line < columns ? weight[(size_t)(column + line) * depth + from + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k)
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    sums[i][j] = fmaf(left[k][threadIdx.y * EACH + i], right[k][threadIdx.x * EACH + j], sums[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int r = row + threadIdx.y * EACH + i, c = column + threadIdx.x * EACH + j;
            if (r < rows && c < columns) out[(size_t)r * columns + c] = gelu(sums[i][j] + bias[c]);
        }
}

extern "C" void linear_gelu(float* out, const float* x, const float* weight, const float* bias,
                            int rows, int depth, int columns, cudaStream_t stream) {
    const dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), block(SIDE, SIDE);
    linear_gelu_kernel<<<grid, block, 0, stream>>>(out, x, weight, bias, rows, depth, columns);
}
"""
)
