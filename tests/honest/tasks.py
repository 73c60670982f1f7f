"""Tasks whose right answers look wrong or empty, or that any kernel wins by far; each with a right submission."""

from __future__ import annotations

from dataclasses import dataclass

from tests.conftest import submit

from cuda_gym.core.task import Submission, Task


@dataclass(frozen=True, kw_only=True)
class Case:
    """A task and what is right for it."""

    task: Task
    submission: Submission


def _case(name: str, *, forward: str, inputs: str, call: str, kernels: str, top: str = "") -> Case:
    reference = (
        f"import torch\nfrom torch import nn\n\n{top}\n"
        "class Model(nn.Module):\n    def forward(self, x):\n"
        + "".join(f"        {line}\n" for line in forward.splitlines())
        + f"\ndef get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return []\n"
    )
    model = (
        "import cuda_extension\nimport torch\nfrom torch import nn\n\n"
        "class ModelNew(nn.Module):\n    def forward(self, x):\n"
        + "".join(f"        {line}\n" for line in call.splitlines())
    )
    task = Task(id=f"test/{name.replace(' ', '_')}", title=name, source=reference)
    return Case(task=task, submission=submit(model, kernels))


_UNORDERED = _case(
    "places, counts and sums",
    top="rows = 96\ncolumns = 160\n",
    forward="return torch.argmax(x, dim=1), (x > 0).sum(dim=1), x.sum(dim=0)",
    inputs="torch.randn(rows, columns)",
    call="index = torch.empty(x.shape[0], dtype=torch.int64, device=x.device)\n"
    "count = torch.zeros(x.shape[0], dtype=torch.int64, device=x.device)\n"
    "total = torch.zeros(x.shape[1], device=x.device)\n"
    "cuda_extension.rows(index, count, total, x, *x.shape)\nreturn index, count, total",
    kernels="""\
__global__ void largest(long long* index, const float* x, int columns) {
    const float* row = x + blockIdx.x * columns;
    __shared__ float values[64];
    __shared__ int places[64];
    float best = -INFINITY;
    int place = 0;
    for (int i = threadIdx.x; i < columns; i += 64)
        if (row[i] > best) { best = row[i]; place = i; }
    values[threadIdx.x] = best;
    places[threadIdx.x] = best == -INFINITY ? columns : place;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            float other = values[threadIdx.x + step];
            int there = places[threadIdx.x + step];
            if (other > values[threadIdx.x] || (other == values[threadIdx.x] && there < places[threadIdx.x])) {
                values[threadIdx.x] = other;
                places[threadIdx.x] = there;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) index[blockIdx.x] = places[0];
}
__global__ void add(float* total, const float* x, int columns) {
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        atomicAdd(total + i, x[blockIdx.x * columns + i]);
}
__global__ void positive(unsigned long long* count, const float* x, int columns) {
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        if (x[blockIdx.x * columns + i] > 0.0f) atomicAdd(count + blockIdx.x, 1ULL);
}
extern "C" void rows(long long* index, long long* count, float* total, const float* x, int rows,
                     int columns, cudaStream_t stream) {
    largest<<<rows, 64, 0, stream>>>(index, x, columns);
    positive<<<rows, 64, 0, stream>>>((unsigned long long*)count, x, columns);
    add<<<rows, 64, 0, stream>>>(total, x, columns);
}
""",
)

_ODD_VALUES = _case(
    "a logarithm that is often NaN, and an output without elements",
    top="rows = 96\ncolumns = 160\n",
    forward="return torch.log(x + 1.0), x[:, :0] * 2.0",
    inputs="torch.randn(rows, columns)",
    call="out = torch.empty_like(x)\ncuda_extension.logarithm(out, x, x.numel())\n"
    "return out, torch.empty(x.shape[0], 0, device=x.device)",
    kernels="""\
__global__ void log_kernel(float* out, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float shifted = x[i] + 1.0f;
    out[i] = shifted < 0.0f ? NAN : logf(shifted);
}
extern "C" void logarithm(float* out, const float* x, int n, cudaStream_t stream) {
    if (n == 0) return;
    log_kernel<<<(n + 127) / 128, 128, 0, stream>>>(out, x, n);
}
""",
)

_WEAK = _case(
    "a product with a matrix that is zero beside its diagonal",
    top="size = 768\n",
    forward="return torch.diag(x[:, 0]) @ x",
    inputs="torch.randn(size, size)",
    call="out = torch.empty_like(x)\ncuda_extension.scale_rows(out, x, *x.shape)\nreturn out",
    kernels="""\
__global__ void scale_kernel(float* out, const float* x, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    const float* row = x + (size_t)blockIdx.y * columns;
    if (column < columns) out[(size_t)blockIdx.y * columns + column] = row[0] * row[column];
}
extern "C" void scale_rows(float* out, const float* x, int rows, int columns, cudaStream_t stream) {
    scale_kernel<<<dim3((columns + 127) / 128, rows), 128, 0, stream>>>(out, x, columns);
}
""",
)

CASES = {
    "gives whole numbers, and adds with atomics in any order": _UNORDERED,
    "gives NaN where the reference does, and nothing where it gives nothing": _ODD_VALUES,
}
WEAK_BASELINE = _WEAK
"""torch.compile does hundreds of times the work that there is to do."""
