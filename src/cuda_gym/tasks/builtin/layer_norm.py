"""Layer normalisation

The normalisation of the first transformers, and still of most vision models: each row is moved to
mean zero and unit variance, then scaled and shifted feature by feature.
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
    """weight * (x - mean(x)) / sqrt(variance(x) + eps) + bias, row by row."""

    def __init__(self, features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(features))
        self.bias = nn.Parameter(0.5 * torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(x, self.bias.shape, self.weight, self.bias, self.eps)


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features]
