"""Batch normalisation and ReLU at inference

What follows each convolution of a ResNet. The statistics are known, so all that is left is a
scale and a shift a channel, to be worked out once and not for every pixel.
"""

import torch
from torch import nn

TASK = {
    "family": "normalisation",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 64, "height": 112, "width": 112}},
}


class Model(nn.Module):
    """relu(weight * (x - running_mean) / sqrt(running_var + eps) + bias), channel by channel."""

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.2 * torch.randn(channels))
        self.bias = nn.Parameter(0.5 * torch.randn(channels))
        self.running_mean: torch.Tensor
        self.running_var: torch.Tensor
        self.register_buffer("running_mean", 0.5 * torch.randn(channels))
        self.register_buffer("running_var", 0.5 + torch.rand(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normalised = nn.functional.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )
        return torch.relu(normalised)


batch_size = 16
channels = 64
height = 32
width = 32


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs() -> list[int]:
    return [channels]
