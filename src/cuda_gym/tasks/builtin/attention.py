"""Causal attention with normalised queries and keys

The heart of a transformer: each position looks at those up to itself. Written naively, a matrix of
all pairs goes out to memory and comes back; a fused kernel never stores it.
"""

import torch
from torch import nn

TASK = {
    "family": "attention",
    "band": "hard",
    "roofline": "compute",
    "sizes": {"cuda": {"batch_size": 4, "num_heads": 16, "num_positions": 1024}},
}


class Model(nn.Module):
    """softmax(q @ k^T / sqrt(features)) @ value over positions up to each query's own.

    q and k are query and key divided by their root mean square, as in Qwen3, so that no score is
    larger than sqrt(features). All tensors are (batch, head, position, feature).
    """

    def __init__(self, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        q, k = (nn.functional.rms_norm(x, x.shape[-1:], eps=self.eps) for x in (query, key))
        return nn.functional.scaled_dot_product_attention(q, k, value, is_causal=True)


batch_size = 4
num_heads = 4
num_positions = 128
features = 64


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_heads, num_positions, features) for _ in range(3)]


def get_init_inputs() -> list[int]:
    return []
