"""Group normalisation

The normalisation of diffusion models: mean and variance are those of a few channels of one image,
over all their pixels, while scale and shift belong to each channel.
"""

import torch
from torch import nn

TASK = {
    "family": "normalisation",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 64, "groups": 32, "channels": 128, "height": 64, "width": 64}},
}


class Model(nn.Module):
    """weight * (x - mean) / sqrt(variance + eps) + bias, with mean and variance of each group."""

    def __init__(self, groups: int, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.groups = groups
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(channels))
        self.bias = nn.Parameter(0.5 * torch.randn(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.group_norm(x, self.groups, self.weight, self.bias, self.eps)


batch_size = 16
groups = 8
channels = 64
height = 32
width = 32


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return [groups, channels]
