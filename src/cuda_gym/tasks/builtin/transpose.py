"""Transpose of a matrix

Nothing is computed, everything is moved. Read along rows and written along columns, one of the
two sides is scattered unless the matrix is moved tile by tile.
"""

import torch
from torch import nn

TASK = {
    "family": "movement",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 8192, "num_columns": 4096}},
}


class Model(nn.Module):
    """The transpose of x, contiguous in memory."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.t().contiguous()


num_rows = 1024
num_columns = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_rows, num_columns)]


def get_init_inputs() -> list[int]:
    return []
