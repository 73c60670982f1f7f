import cuda_extension
import torch
from torch import nn


class ModelNew(nn.Module):
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
        outputs = (torch.empty_like(weight), torch.empty_like(weight), torch.empty_like(weight))
        cuda_extension.adamw_step(
            *outputs,
            *(weight, gradient, moment, root),
            weight.numel(),
            *self.betas,
            *(self.kept, self.rate, self.root_scale, self.eps),
        )
        return outputs
