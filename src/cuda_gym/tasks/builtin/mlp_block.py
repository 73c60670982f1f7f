"""Two linear layers with GELU between

The part of a transformer that holds most of its weights. The products may be left to the library
(`cuda_extension.library.gemm`); what is to be won lies between and around them.
"""

import torch
from torch import nn

TASK = {
    "family": "matmul",
    "band": "hard",
    "roofline": "compute",
    "library": ["gemm"],
    "sizes": {"cuda": {"batch_size": 4096, "features": 512, "hidden": 2048}},
}


class Model(nn.Module):
    """gelu(x @ up + up_bias) @ down + down_bias, with GELU in its tanh form."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.randn(features, hidden) * features**-0.5)
        self.up_bias = nn.Parameter(torch.randn(hidden))
        self.down = nn.Parameter(torch.randn(hidden, features) * hidden**-0.5)
        self.down_bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = nn.functional.gelu(x @ self.up + self.up_bias, approximate="tanh")
        return hidden @ self.down + self.down_bias


batch_size = 256
features = 128
hidden = 512


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features, hidden]
