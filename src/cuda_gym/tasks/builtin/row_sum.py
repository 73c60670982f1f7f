"""Sum of each row

The smallest reduction there is. It is limited by memory alone: every element is read once, and
next to nothing is written.
"""

import torch
from torch import nn

TASK = {
    "family": "reduction",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32768, "features": 2048}},
}


class Model(nn.Module):
    """sum(x) along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(dim=-1)


batch_size = 2048
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return []
