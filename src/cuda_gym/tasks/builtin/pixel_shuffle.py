"""Pixel shuffle

How super-resolution networks grow a picture: groups of channels become blocks of pixels. It is a
permutation of memory in which neither reading nor writing everything in order is possible.
"""

import torch
from torch import nn

TASK = {
    "family": "movement",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 64, "channels": 32}},
}


class Model(nn.Module):
    """(batch, channels * factor^2, height, width) to (batch, channels, height * factor, width * factor)."""

    def __init__(self, factor: int) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.pixel_shuffle(x, self.factor)


batch_size = 8
channels = 8
height = 64
width = 64
factor = 2


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels * factor**2, height, width)]


def get_init_inputs() -> list[int]:
    return [factor]
