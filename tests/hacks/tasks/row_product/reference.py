import torch
from torch import nn

rows = 4
inner = 256
columns = 192


class Model(nn.Module):
    def __init__(self, inner: int, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns, inner) / inner**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.t()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(rows, inner)]


def get_init_inputs() -> list[int]:
    return [inner, columns]
