import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        out = torch.empty(batch, channels, dtype=x.dtype, device=x.device)
        cuda_extension.global_avg_pool(out, x, batch * channels, height * width)
        return out
