import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, num_groups: int, inner: int, num_columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_groups, inner, num_columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        groups, rows, inner = x.shape
        columns = self.weight.shape[2]
        out = torch.empty(groups, rows, columns, dtype=x.dtype, device=x.device)
        cuda_extension.batched_matmul(out, x, self.weight, groups, rows, inner, columns)
        return out
