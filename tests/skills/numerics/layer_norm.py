"""LayerNorm of float16, with weight and bias."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 16384, "features": 4096}}}


class Model(nn.Module):
    def __init__(self, features: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(features, dtype=torch.float16))
        self.bias = nn.Parameter(torch.randn(features, dtype=torch.float16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


rows = 41
features = 300


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, features, dtype=torch.float16)]


def get_init_inputs() -> list[int | float]:
    return [features, 1e-5]
