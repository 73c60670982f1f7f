"""Mean over the tokens of each sequence

How an encoder's output becomes one embedding a text. The axis that goes away lies in the middle:
neighbours in memory belong to different sums.
"""

import torch
from torch import nn

TASK = {
    "family": "reduction",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 64, "num_tokens": 1024, "features": 1024}},
}


class Model(nn.Module):
    """mean(x) of (batch, tokens, features) over the tokens."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=1)


batch_size = 32
num_tokens = 128
features = 512


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_tokens, features)]


def get_init_inputs() -> list[int]:
    return []
