import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cuda_extension.library.gemm(x, y)
