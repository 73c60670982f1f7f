import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.empty(features, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        rows, features = x.shape
        out = torch.empty_like(x)
        cuda_extension.bfloat16_residual(out, x, residual, self.gate, rows, features)
        return out
