"""Embedding lookup

The first layer of every language model: each token picks its row of a table. Nothing is computed;
which rows are read, and how often, only the indices know.
"""

import torch
from torch import nn

TASK = {
    "family": "movement",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32768, "num_embeddings": 32768, "features": 1024}},
}


class Model(nn.Module):
    """table[tokens], one row a token."""

    def forward(self, table: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        return nn.functional.embedding(tokens, table)


batch_size = 2048
num_embeddings = 1024
features = 512


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_embeddings, features), torch.randint(num_embeddings, (batch_size,))]


def get_init_inputs() -> list[int]:
    return []
