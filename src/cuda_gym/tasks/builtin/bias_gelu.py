"""Bias and GELU

Adds a bias to each row, then applies GELU in its tanh form. PyTorch's compiler fuses the two,
but what it makes of the tanh leaves room.
"""

import torch
from torch import nn

TASK = {
    "family": "elementwise",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """gelu(x + bias), with GELU as 0.5 y (1 + tanh(sqrt(2 / pi) (y + 0.044715 y^3)))."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(x + self.bias, approximate="tanh")


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features]
