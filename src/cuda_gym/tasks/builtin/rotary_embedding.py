"""Rotary position embedding

What tells a transformer where a token stands: each query or key is cut into two halves, and every
pair of elements is turned by an angle of its own. All heads at one position share the angles.
"""

import torch
from torch import nn

TASK = {
    "family": "elementwise",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32, "num_positions": 1024, "num_heads": 16}},
}


class Model(nn.Module):
    """(a cos - b sin, b cos + a sin) for the halves a and b of the last dimension.

    x is (batch, position, head, feature). The tables have a row for each position that there may
    be and a column for each pair.
    """

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(self, num_pairs: int, max_positions: int) -> None:
        super().__init__()
        frequencies = 10000.0 ** (-torch.arange(num_pairs) / num_pairs)
        angles = torch.arange(max_positions)[:, None] * frequencies
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        cos, sin = (table[: x.shape[1], None, :] for table in (self.cos, self.sin))
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


batch_size = 8
num_positions = 128
num_heads = 8
num_pairs = 32
max_positions = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_positions, num_heads, 2 * num_pairs)]


def get_init_inputs() -> list[int]:
    return [num_pairs, max_positions]
