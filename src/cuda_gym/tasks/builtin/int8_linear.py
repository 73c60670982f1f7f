"""Linear layer with int8 weights

How large language models fit into small memories: the weights are bytes with one scale a column
and widened on the way into the product. Widened in memory first, they would cost more than before.
"""

import torch
from torch import nn

TASK = {
    "family": "quantisation",
    "band": "hard",
    "roofline": "compute",
    "sizes": {"cuda": {"batch_size": 512, "in_features": 2048, "out_features": 2048}},
}


class Model(nn.Module):
    """(x @ quantised) * scale, with quantised as int8 of (in_features, out_features)."""

    quantised: torch.Tensor

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        shape = (in_features, out_features)
        self.register_buffer("quantised", torch.randint(-127, 128, shape, dtype=torch.int8))
        self.scale = nn.Parameter((0.5 + torch.rand(out_features)) / 64.0 * in_features**-0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.quantised.to(x.dtype)) * self.scale


batch_size = 64
in_features = 512
out_features = 512


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, in_features)]


def get_init_inputs() -> list[int]:
    return [in_features, out_features]
