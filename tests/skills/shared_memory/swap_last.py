"""(batch, rows, columns) becomes (batch, columns, rows), contiguous."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"batch": 16, "rows": 2048, "columns": 2048}}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2).contiguous()


batch = 3
rows = 70
columns = 45


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch, rows, columns)]


def get_init_inputs() -> list[int]:
    return []
