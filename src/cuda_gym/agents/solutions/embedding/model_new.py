import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, table: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        num_tokens, features = tokens.shape[0], table.shape[1]
        out = torch.empty(num_tokens, features, dtype=table.dtype, device=table.device)
        cuda_extension.embedding(out, table, tokens, num_tokens, features)
        return out
