import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x.new_empty(x.shape[0])
        cuda_extension.mean_sigmoid(out, x, x.shape[0], x.shape[1])
        return out
