"""Gated residual connection in bfloat16

The output of a block of a diffusion transformer, scaled feature by feature, is added to what went
into the block. All of it is bfloat16: half the bytes, and numbers to convert on the way.
"""

import torch
from torch import nn

TASK = {
    "family": "elementwise",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 4096}},
}


class Model(nn.Module):
    """residual + gate * x, in bfloat16."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(0.5 + torch.rand(features, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return residual + self.gate * x


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features, dtype=torch.bfloat16) for _ in range(2)]


def get_init_inputs() -> list[int]:
    return [features]
