import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        # Window 3, stride 2 and padding 1 halve each side, rounded up.
        shape = (batch, channels, (height + 1) // 2, (width + 1) // 2)
        out = torch.empty(shape, dtype=x.dtype, device=x.device)
        cuda_extension.max_pool2d(out, x, batch * channels, height, width)
        return out
