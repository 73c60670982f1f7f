"""2-D max pooling

The largest element of each 3 x 3 window, two pixels apart, with a border of one pixel that never
wins: the pooling after the first convolution of a ResNet.
"""

import torch
from torch import nn

TASK = {
    "family": "pooling",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32, "channels": 64, "height": 112, "width": 112}},
}


class Model(nn.Module):
    """Max pooling of (batch, channels, height, width): window 3, stride 2, padding 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.max_pool2d(x, kernel_size=3, stride=2, padding=1)


batch_size = 8
channels = 32
height = 64
width = 64


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return []
