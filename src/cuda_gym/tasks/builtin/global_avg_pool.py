"""Global average pooling

The end of most convolutional networks: each channel of each picture becomes its mean. Many short
sums, one for every few kilobytes that are read.
"""

import torch
from torch import nn

TASK = {
    "family": "pooling",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 64, "channels": 256, "height": 56, "width": 56}},
}


class Model(nn.Module):
    """The mean over height and width: (batch, channels, height, width) to (batch, channels)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=(2, 3))


batch_size = 32
channels = 64
height = 32
width = 32


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return []
