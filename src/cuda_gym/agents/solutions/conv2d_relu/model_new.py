import cuda_extension
import torch
from torch import nn

WIDTH = 32
"""Pixels that a thread of the kernel computes."""


class ModelNew(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, 3, 3))
        self.bias = nn.Parameter(torch.empty(out_channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, in_channels, height, width = x.shape
        out_channels = self.weight.shape[0]
        padded_width = -(-width // WIDTH) * WIDTH + 2
        like = {"dtype": x.dtype, "device": x.device}
        padded = torch.empty(batch, in_channels, height + 2, padded_width, **like)
        out = torch.empty(batch, out_channels, height, width, **like)
        sizes = (batch, in_channels, out_channels, height, width, padded_width)
        cuda_extension.conv2d_relu(out, padded, x, self.weight, self.bias, *sizes)
        return out
