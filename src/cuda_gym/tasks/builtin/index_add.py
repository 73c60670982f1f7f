"""Sum of rows by index

How a graph network gathers messages: each row is added to the row of the output that its index
names. Several rows may meet at one place, so whoever writes in parallel must not lose a sum.
"""

import torch
from torch import nn

TASK = {
    "family": "scatter",
    "band": "medium",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 262144, "num_nodes": 16384}},
}


class Model(nn.Module):
    """out[targets[i]] += messages[i], from zeros of (num_nodes, features)."""

    def __init__(self, num_nodes: int) -> None:
        super().__init__()
        self.num_nodes = num_nodes

    def forward(self, messages: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        sums = messages.new_zeros(self.num_nodes, messages.shape[1])
        return sums.index_add(0, targets, messages)


num_rows = 4096
num_nodes = 512
features = 128


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(num_rows, features), torch.randint(num_nodes, (num_rows,))]


def get_init_inputs() -> list[int]:
    return [num_nodes]
