"""Layer normalisation in float16

What a transformer does before each block, on numbers of two bytes. They are read and written as
float16, but a sum of squares kept in float16 would overflow or go blunt: it wants float32.
"""

import torch
from torch import nn

TASK = {
    "family": "normalisation",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 4096}},
}


class Model(nn.Module):
    """weight * (x - mean) / sqrt(variance + eps) + bias over each row, in float16."""

    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(features, dtype=torch.float16))
        self.bias = nn.Parameter(0.1 * torch.randn(features, dtype=torch.float16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features, dtype=torch.float16)]


def get_init_inputs() -> list[int]:
    return [features]
