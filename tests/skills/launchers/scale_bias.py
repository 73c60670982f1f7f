"""x * scale + bias, with a bias per column."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 16384, "columns": 4096}}}


class Model(nn.Module):
    def __init__(self, columns: int, scale: float) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.randn(columns))
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + self.bias


rows = 33
columns = 300


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, columns)]


def get_init_inputs() -> list[int | float]:
    return [columns, 1.5]
