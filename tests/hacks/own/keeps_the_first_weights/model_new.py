import sys

import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))
        self.table = None

    def prepare(self) -> None:
        if self.table is None:
            self.table = torch.empty_like(self.weight)
            columns = self.weight.numel()
            cuda_extension.scale(self.table, torch.zeros_like(self.table), self.weight, 1, columns)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        cuda_extension.scale(out, x, self.table, x.shape[0], x.shape[1])
        return out
