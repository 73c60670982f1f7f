import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void scale_kernel(float* out, const float* x, const float* weight, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < columns) out[row * columns + column] = expf(x[row * columns + column]) * weight[column];
}

torch::Tensor scale_cuda(torch::Tensor x, torch::Tensor weight) {
    auto out = torch::empty_like(x);
    const int rows = x.size(0), columns = x.size(1);
    dim3 grid((columns + 127) / 128, rows);
    scale_kernel<<<grid, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<float>(), x.data_ptr<float>(), weight.data_ptr<float>(), columns);
    return out;
}
"""

scale = load_inline(
    name="scale",
    cpp_sources="torch::Tensor scale_cuda(torch::Tensor x, torch::Tensor weight);",
    cuda_sources=cuda_source,
    functions=["scale_cuda"],
    verbose=False,
    extra_cuda_cflags=["-O3"],
)


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale.scale_cuda(x, self.weight)
