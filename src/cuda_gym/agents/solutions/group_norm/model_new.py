import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, groups: int, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.groups = groups
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(channels))
        self.bias = nn.Parameter(torch.empty(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        cuda_extension.group_norm(
            *(out, x, self.weight, self.bias),
            *(batch, self.groups, channels // self.groups, height * width, self.eps),
        )
        return out
