import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(features, dtype=torch.float16))
        self.bias = nn.Parameter(torch.empty(features, dtype=torch.float16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, features = x.shape
        out = torch.empty_like(x)
        cuda_extension.half_layer_norm(out, x, self.weight, self.bias, rows, features, self.eps)
        return out
