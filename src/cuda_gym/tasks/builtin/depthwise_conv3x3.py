"""Depthwise 3 x 3 convolution

The cheap half of a separable convolution, as in MobileNet: each channel has a filter of its own.
Nine products an element are too few to wait for, so memory decides.
"""

import torch
from torch import nn

TASK = {
    "family": "convolution",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32, "channels": 64, "height": 112, "width": 112}},
}


class Model(nn.Module):
    """A 3 x 3 filter for each channel, padding 1, stride 1, no bias."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, 3, 3) / 3.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.conv2d(x, self.weight, padding=1, groups=self.weight.shape[0])


batch_size = 8
channels = 32
height = 64
width = 64


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return [channels]
