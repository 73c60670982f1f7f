import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(features))
        self.shift = nn.Parameter(torch.empty(features))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        rows, features = x.shape
        out = torch.empty_like(x)
        cuda_extension.hardswish_residual(out, x, residual, self.scale, self.shift, rows, features)
        return out
