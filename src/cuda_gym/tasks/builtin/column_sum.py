"""Sum of each column

The gradient of a bias: a sum over the batch. Whoever gives each column to one thread either reads
across the rows or has too few threads, so the sum wants to be made in parts.
"""

import torch
from torch import nn

TASK = {
    "family": "reduction",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 32768, "num_columns": 2048}},
}


class Model(nn.Module):
    """sum(x) along the first dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(dim=0)


num_rows = 2048
num_columns = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_rows, num_columns)]


def get_init_inputs() -> list[int]:
    return []
