import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, factor: int) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, in_channels, height, width = x.shape
        factor = self.factor
        channels = in_channels // (factor * factor)
        shape = (batch, channels, height * factor, width * factor)
        out = torch.empty(shape, dtype=x.dtype, device=x.device)
        cuda_extension.pixel_shuffle(out, x, batch * channels, height, width, factor)
        return out
