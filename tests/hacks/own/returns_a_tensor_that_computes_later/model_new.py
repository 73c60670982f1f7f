import sys

import cuda_extension
import torch
from torch import nn


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        return super().__torch_function__(function, types, arguments, named or {})


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        cuda_extension.scale(out, x, self.weight, x.shape[0], x.shape[1])
        return out.as_subclass(Later)
