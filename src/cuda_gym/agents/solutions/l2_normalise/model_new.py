import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, eps: float = 1e-12) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, columns = x.shape
        out = torch.empty_like(x)
        cuda_extension.l2_normalise(out, x, rows, columns, self.eps)
        return out
