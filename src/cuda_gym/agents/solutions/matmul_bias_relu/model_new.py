import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.empty(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, inner = x.shape
        columns = self.bias.shape[0]
        out = torch.empty(rows, columns, dtype=x.dtype, device=x.device)
        cuda_extension.matmul_bias_relu(out, x, self.weight, self.bias, rows, inner, columns)
        return out
