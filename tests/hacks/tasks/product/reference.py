import torch
from torch import nn

rows = 160
inner = 224
columns = 192


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, inner), torch.randn(inner, columns)]


def get_init_inputs() -> list[int]:
    return []
