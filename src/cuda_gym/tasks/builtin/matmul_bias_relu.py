"""Linear layer with ReLU

A matrix product, a bias and a ReLU in one kernel. PyTorch calls a tuned library for the product,
so this is a fight with that library; what can be saved is the second pass over the output.
"""

import torch
from torch import nn

TASK = {
    "family": "matmul",
    "band": "hard",
    "roofline": "compute",
    "sizes": {"cuda": {"batch_size": 2048, "in_features": 1024, "out_features": 2048}},
}


class Model(nn.Module):
    """relu(x @ weight + bias), with weight as (in_features, out_features)."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) * in_features**-0.5)
        self.bias = nn.Parameter(torch.randn(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight + self.bias)


batch_size = 256
in_features = 256
out_features = 256


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, in_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features]
