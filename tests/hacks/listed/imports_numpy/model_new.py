import numpy as np

import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.matmul(x.numpy(), y.numpy()))
