import cuda_extension
import torch
from torch import nn

KEYS = 32
"""Keys that a thread of the kernel looks at together."""


class ModelNew(nn.Module):
    def __init__(self, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        batch, heads, positions, features = query.shape
        padded = -(-positions // KEYS) * KEYS
        out = torch.empty_like(query)
        prepared = torch.empty(
            batch * heads, features, padded, dtype=query.dtype, device=query.device
        )
        sizes = (batch * heads, positions, padded, features)
        cuda_extension.attention(out, prepared, query, key, value, *sizes, self.eps)
        return out
