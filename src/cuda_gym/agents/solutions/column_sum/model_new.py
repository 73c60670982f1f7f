import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        part = 128  # rows that one thread sums
        partial = torch.empty(-(-rows // part), columns, dtype=x.dtype, device=x.device)
        out = torch.empty(columns, dtype=x.dtype, device=x.device)
        cuda_extension.column_sum(out, partial, x, rows, columns, part)
        return out
