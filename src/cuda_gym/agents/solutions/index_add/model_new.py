import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, num_nodes: int) -> None:
        super().__init__()
        self.num_nodes = num_nodes

    def forward(self, messages: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        rows, features = messages.shape
        out = torch.empty(self.num_nodes, features, dtype=messages.dtype, device=messages.device)
        cuda_extension.index_add(out, messages, targets, rows, self.num_nodes, features)
        return out
