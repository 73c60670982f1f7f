import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(channels))
        self.bias = nn.Parameter(torch.empty(channels))
        self.register_buffer("running_mean", torch.empty(channels))
        self.register_buffer("running_var", torch.empty(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        out = torch.empty_like(x)
        cuda_extension.batch_norm_relu(
            *(out, x, self.running_mean, self.running_var, self.weight, self.bias),
            *(batch, channels, height * width, self.eps),
        )
        return out
