"""Outputs that are wrong, and the pattern that is found in them."""

from __future__ import annotations

import torch
from torch import Tensor

from cuda_gym.judge.verification.patterns import find_pattern


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def pattern(got: Tensor, want: Tensor, **given: Tensor) -> str:
    wrong = ~((got.double() - want).abs() <= 1e-9 * (1 + want.abs()))
    return find_pattern(got, want, wrong, given=given) or ""
