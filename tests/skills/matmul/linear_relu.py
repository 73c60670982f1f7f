"""A linear layer with ReLU."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 4096, "inner": 4096, "columns": 4096}}}


class Model(nn.Module):
    def __init__(self, inner: int, columns: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inner, columns)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


rows = 70
inner = 83
columns = 150


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, inner)]


def get_init_inputs() -> list[int]:
    return [inner, columns]
