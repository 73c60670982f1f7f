"""What kernels compute that are honest, or that round too much; with torch."""

from __future__ import annotations

import torch
from torch import Tensor


def sequential_sum(x: Tensor) -> Tensor:
    """One thread a row, float32, first to last."""
    total = torch.zeros(len(x))
    for column in x.t().contiguous():
        total += column
    return total


def sequential_matmul(a: Tensor, b: Tensor) -> Tensor:
    """One thread an element, float32, first to last."""
    total = torch.zeros(len(a), b.shape[1])
    for k in range(len(b)):
        total += a[:, k : k + 1] * b[k]
    return total


def tf32(x: Tensor) -> Tensor:
    """Ten bits of mantissa, rounded to nearest."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def kahan_sum(x: Tensor) -> Tensor:
    total, lost = torch.zeros(len(x)), torch.zeros(len(x))
    for column in x.t().contiguous():
        step = column - lost
        new = total + step
        lost = (new - total) - step
        total = new
    return total
