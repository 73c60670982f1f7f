import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        shape = (in_features, out_features)
        self.register_buffer("quantised", torch.empty(shape, dtype=torch.int8))
        self.scale = nn.Parameter(torch.empty(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, inner = x.shape
        columns = self.scale.shape[0]
        out = torch.empty(rows, columns, dtype=x.dtype, device=x.device)
        cuda_extension.int8_linear(out, x, self.quantised, self.scale, rows, inner, columns)
        return out
