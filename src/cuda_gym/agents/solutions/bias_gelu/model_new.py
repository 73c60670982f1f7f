import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.empty(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, features = x.shape
        out = torch.empty_like(x)
        cuda_extension.bias_gelu(out, x, self.bias, rows, features)
        return out
