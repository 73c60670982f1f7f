"""Causal attention of several heads."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"batch": 8, "heads": 16, "length": 2048, "dim": 64}}}


class Model(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


batch = 2
heads = 2
length = 100
dim = 32


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch, heads, length, dim) for _ in range(3)]


def get_init_inputs() -> list[int]:
    return []
