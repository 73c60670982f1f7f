"""Batched matrix product

Many products of small matrices, as in a mixture of experts: each group of rows meets a matrix of
its own. Every product is too small to fill a large machine, so the batch has to be spread as well.
"""

import torch
from torch import nn

TASK = {
    "family": "matmul",
    "band": "hard",
    "roofline": "compute",
    "sizes": {"cuda": {"num_groups": 64, "num_rows": 512, "inner": 512, "num_columns": 512}},
}


class Model(nn.Module):
    """x @ weight for each group: (groups, rows, inner) times (groups, inner, columns)."""

    def __init__(self, num_groups: int, inner: int, num_columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(num_groups, inner, num_columns) * inner**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bmm(x, self.weight)


num_groups = 16
num_rows = 128
inner = 64
num_columns = 128


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_groups, num_rows, inner)]


def get_init_inputs() -> list[int]:
    return [num_groups, inner, num_columns]
