import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, features = x.shape
        out = torch.empty(batch, features, dtype=x.dtype, device=x.device)
        cuda_extension.token_mean(out, x, batch, tokens, features)
        return out
