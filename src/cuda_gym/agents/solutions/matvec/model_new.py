import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        rows, columns = matrix.shape
        out = torch.empty(rows, dtype=matrix.dtype, device=matrix.device)
        cuda_extension.matvec(out, matrix, vector, rows, columns)
        return out
