"""Residual connection and RMSNorm

What stands between two blocks of a transformer: the block's output is added to the residual
stream, and the sum is normalised to unit mean square and scaled feature by feature.
"""

import torch
from torch import nn

TASK = {
    "family": "normalisation",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """h = x + residual; weight * h / sqrt(mean(h^2) + eps)."""

    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(features))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        hidden = x + residual
        mean_square = hidden.square().mean(dim=-1, keepdim=True)
        return self.weight * (hidden * torch.rsqrt(mean_square + self.eps))


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features), torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features]
