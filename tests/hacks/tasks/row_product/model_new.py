import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, inner: int, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns, inner))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, inner, columns = x.shape[0], x.shape[1], self.weight.shape[0]
        out = x.new_empty(rows, columns)
        cuda_extension.row_product(out, x, self.weight, rows, inner, columns)
        return out
