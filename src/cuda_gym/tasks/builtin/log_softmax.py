"""Log-softmax over rows

What a language model's scores are made of: the logits, less the logarithm of the sum of their
exponentials. As a logarithm it is right where a softmax would have become zero.
"""

import torch
from torch import nn

TASK = {
    "family": "softmax",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "features": 2048}},
}


class Model(nn.Module):
    """x - log(sum(exp(x))) along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(x, dim=-1)


batch_size = 1024
features = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return []
