"""Matrix times vector

What decoding one token asks of every layer: each weight is read once and used once. The product of
two matrices is a fight for arithmetic; this one is a fight for bandwidth.
"""

import torch
from torch import nn

TASK = {
    "family": "matmul",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 16384, "num_columns": 4096}},
}


class Model(nn.Module):
    """matrix @ vector."""

    def forward(self, matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        return matrix @ vector


num_rows = 1024
num_columns = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_rows, num_columns), torch.randn(num_columns)]


def get_init_inputs() -> list[int]:
    return []
