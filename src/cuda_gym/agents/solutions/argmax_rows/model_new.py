import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        positions = torch.empty(rows, dtype=torch.int64, device=x.device)
        cuda_extension.argmax_rows(positions, x, rows, columns)
        return positions
