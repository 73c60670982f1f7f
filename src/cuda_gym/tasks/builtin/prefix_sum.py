"""Prefix sums of each row

The scan beneath sorting, sampling and compaction: each element becomes the sum of all up to it.
Every result needs the one before, unless the row is cut into pieces that are scanned at once.
"""

import torch
from torch import nn

TASK = {
    "family": "scan",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """cumsum(x) along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.cumsum(dim=-1)


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return []
