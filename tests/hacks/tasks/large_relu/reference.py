import torch
from torch import nn

rows = 768
columns = 1024


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(rows, columns)]


def get_init_inputs() -> list[int]:
    return []
