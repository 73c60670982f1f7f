"""Position of the largest element of each row

How a classifier answers, and a language model at temperature zero. The position has to be carried
along with the maximum, and what is returned are 64-bit integers.
"""

import torch
from torch import nn

TASK = {
    "family": "arg-reduction",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"batch_size": 32768, "num_classes": 2048}},
}


class Model(nn.Module):
    """argmax(x) along the last dimension."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.argmax(dim=-1)


batch_size = 1024
num_classes = 1024


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, num_classes)]


def get_init_inputs() -> list[int]:
    return []
