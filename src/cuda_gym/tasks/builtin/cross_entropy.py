"""Cross-entropy loss of each row

The loss of a classifier, or of a language model at each position: logarithm of the sum of
exponentials of the logits, less the logit of the right class.
"""

import torch
from torch import nn

TASK = {
    "family": "loss",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 8192, "num_classes": 8192}},
}


class Model(nn.Module):
    """log(sum(exp(logits))) - logits[target], one loss a row."""

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits, targets, reduction="none")


batch_size = 1024
num_classes = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_classes), torch.randint(num_classes, (batch_size,))]


def get_init_inputs() -> list[int]:
    return []
