"""3 x 3 convolution with bias and ReLU

The workhorse of pictures. Each input pixel serves nine places and all output channels, so whoever
keeps it near wins; PyTorch calls a library that has been tuned for a decade.
"""

import torch
from torch import nn

TASK = {
    "family": "convolution",
    "band": "hard",
    "roofline": "compute",
    "sizes": {
        "cuda": {
            "batch_size": 32,
            "in_channels": 64,
            "out_channels": 128,
            "height": 56,
            "width": 56,
        }
    },
}


class Model(nn.Module):
    """relu(conv2d(x, weight) + bias): 3 x 3, padding 1, stride 1."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        spread = (9 * in_channels) ** -0.5
        self.weight = nn.Parameter(torch.randn(out_channels, in_channels, 3, 3) * spread)
        self.bias = nn.Parameter(torch.randn(out_channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(nn.functional.conv2d(x, self.weight, self.bias, padding=1))


batch_size = 8
in_channels = 16
out_channels = 32
height = 32
width = 32


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs() -> list[int]:
    return [in_channels, out_channels]
