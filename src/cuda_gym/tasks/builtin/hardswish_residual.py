"""Scale, shift, hard swish and residual

The end of a block of a mobile vision network at inference, where batch normalisation has become a
scale and a shift: four operators of PyTorch, one pass over memory.
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
    """residual + h * clamp(h + 3, 0, 6) / 6 with h = x * scale + shift."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.5 * torch.randn(features))
        self.shift = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return residual + nn.functional.hardswish(x * self.scale + self.shift)


batch_size = 1024
features = 768


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features), torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features]
