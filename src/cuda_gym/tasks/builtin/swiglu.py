"""SwiGLU

The gate in the feed-forward blocks of most language models since Llama. One projection makes both
halves of each row; the first, through SiLU, says how much of the second passes.
"""

import torch
from torch import nn

TASK = {
    "family": "elementwise",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """silu(gate) * value, with gate and value as the first and the second half of each row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, value = x.chunk(2, dim=-1)
        return nn.functional.silu(gate) * value


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, 2 * features)]


def get_init_inputs() -> list[int]:
    return []
