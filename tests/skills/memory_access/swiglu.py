"""SwiGLU's gate: silu(gate) * up."""

import torch
from torch import nn

TASK = {"sizes": {"cuda": {"rows": 16384, "columns": 4096}}}


class Model(nn.Module):
    def forward(self, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(gate) * up


rows = 37
columns = 101


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, columns), torch.randn(rows, columns)]


def get_init_inputs() -> list[int]:
    return []
