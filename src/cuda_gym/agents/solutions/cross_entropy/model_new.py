import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, classes = logits.shape
        losses = torch.empty(rows, dtype=logits.dtype, device=logits.device)
        cuda_extension.cross_entropy(losses, logits, targets, rows, classes)
        return losses
