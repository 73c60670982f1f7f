"""Dequantisation of int8

Weights are kept as int8 with one scale a row and widened before use. A byte is read for every four
that are written, so the output decides how long it takes.
"""

import torch
from torch import nn

TASK = {
    "family": "quantisation",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 16384, "features": 4096}},
}


class Model(nn.Module):
    """quantised * scale, with int8 of (rows, features), one scale a row, and float32 as result."""

    def forward(self, scale: torch.Tensor, quantised: torch.Tensor) -> torch.Tensor:
        return quantised * scale[:, None]


num_rows = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    scale = 0.01 + 0.02 * torch.rand(num_rows)
    return [scale, torch.randint(-127, 128, (num_rows, features), dtype=torch.int8)]


def get_init_inputs() -> list[int]:
    return []
