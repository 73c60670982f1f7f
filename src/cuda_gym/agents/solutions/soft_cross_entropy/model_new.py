import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        rows, classes = student.shape
        losses = torch.empty(rows, dtype=student.dtype, device=student.device)
        cuda_extension.soft_cross_entropy(losses, student, teacher, rows, classes)
        return losses
