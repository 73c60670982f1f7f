"""Softmax over rows

Each row becomes a probability distribution. The largest element is subtracted first, so that no
exponential overflows: one pass for the maximum, one for the sum, one for the result.
"""

import torch
from torch import nn

TASK = {
    "family": "softmax",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """softmax(x) along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return []
