"""The mean squared difference of two tensors."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 16384, "columns": 4096}}}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return nn.functional.mse_loss(x, y)


rows = 64
columns = 333


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs() -> list[int]:
    return []
