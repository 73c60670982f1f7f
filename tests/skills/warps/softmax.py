"""Softmax over rows."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 65536, "columns": 1024}}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=-1)


rows = 45
columns = 300


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, columns)]


def get_init_inputs() -> list[int]:
    return []
