import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, scale: torch.Tensor, quantised: torch.Tensor) -> torch.Tensor:
        rows, features = quantised.shape
        out = torch.empty(rows, features, dtype=scale.dtype, device=scale.device)
        cuda_extension.dequantise_int8(out, scale, quantised, rows, features)
        return out
