import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        cuda_extension.layer_norm(out, x, self.norm.weight, self.norm.bias, x.shape[0], x.shape[1])
        return out
