"""Cross-entropy with a teacher's softmax

The loss of distillation: how surprised a student is by its teacher's distribution, from the logits
of both. Written plainly it is a softmax, a log-softmax and two more passes over memory.
"""

import torch
from torch import nn

TASK = {
    "family": "loss",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 16384, "num_classes": 2048}},
}


class Model(nn.Module):
    """-sum(softmax(teacher) * log_softmax(student)), one loss a row."""

    def forward(self, student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        targets = torch.softmax(teacher, dim=-1)
        return -(targets * torch.log_softmax(student, dim=-1)).sum(dim=-1)


batch_size = 1024
num_classes = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_classes), torch.randn(batch_size, num_classes)]


def get_init_inputs() -> list[int]:
    return []
