"""One step of AdamW

What an optimiser does to each weight: four numbers in, three out. The second moment is kept as its
square root, as it is where moments are stored with few bits: it then has the range of a gradient.
"""

import torch
from torch import nn

TASK = {
    "family": "elementwise",
    "band": "easy",
    "roofline": "memory",
    "sizes": {"cuda": {"num_rows": 8192, "num_columns": 2048}},
}


class Model(nn.Module):
    """The new weight, the new first moment and the root of the new second moment.

    moment' = b1 * moment + (1 - b1) * gradient
    root' = sqrt(b2 * root^2 + (1 - b2) * gradient^2)
    weight' = weight * (1 - rate * decay)
              - rate * (moment' / (1 - b1^step)) / (root' / sqrt(1 - b2^step) + eps)
    """

    def __init__(
        self,
        rate: float = 1e-2,
        betas: tuple[float, float] = (0.9, 0.95),
        eps: float = 1e-8,
        decay: float = 0.1,
        step: int = 10,
    ) -> None:
        super().__init__()
        self.betas, self.eps = betas, eps
        self.kept = 1.0 - rate * decay
        self.rate = rate / (1.0 - betas[0] ** step)
        self.root_scale = (1.0 - betas[1] ** step) ** -0.5

    def forward(
        self, weight: torch.Tensor, gradient: torch.Tensor, moment: torch.Tensor, root: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        b1, b2 = self.betas
        moment = b1 * moment + (1.0 - b1) * gradient
        root = torch.sqrt(b2 * root.square() + (1.0 - b2) * gradient.square())
        change = moment / (root * self.root_scale + self.eps)
        return self.kept * weight - self.rate * change, moment, root


num_rows = 512
num_columns = 512


def get_inputs() -> list[torch.Tensor]:
    weight, gradient, moment = (torch.randn(num_rows, num_columns) for _ in range(3))
    return [weight, gradient, moment, torch.rand(num_rows, num_columns)]


def get_init_inputs() -> list[int]:
    return []
