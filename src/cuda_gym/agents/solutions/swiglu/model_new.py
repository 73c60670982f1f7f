import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, both = x.shape
        features = both // 2
        out = torch.empty(rows, features, dtype=x.dtype, device=x.device)
        cuda_extension.swiglu(out, x, rows, features)
        return out
