import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels, 1, 3, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        cuda_extension.depthwise_conv3x3(out, x, self.weight, batch, channels, height, width)
        return out
