"""What is no accident in a tensor: zeros and symmetry, which a kernel may rely on."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["has_structural_zeros", "is_symmetric", "with_structure_of"]


def has_structural_zeros(tensor: Tensor) -> bool:
    """Whether more than one element in twenty is zero, as in triangular and sparse matrices."""
    return (tensor.numel() - int(tensor.count_nonzero())) * 20 > tensor.numel()


def is_symmetric(tensor: Tensor) -> bool:
    """Looked at is first an edge, since nearly all square matrices are not."""
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        return False
    edges = tensor[..., -1, :], tensor[..., :, -1]
    return torch.equal(*edges) and torch.equal(tensor, tensor.mT)


def with_structure_of(before: Tensor, after: Tensor) -> Tensor:
    """Zeros that are no accident stay zeros, and symmetric matrices stay symmetric.

    A kernel may rely on both: a product of triangular matrices need not read the other half.
    """
    if has_structural_zeros(before):
        after = after.masked_fill(before == 0, 0.0)
    if is_symmetric(before):
        after = torch.where(after.abs() >= after.mT.abs(), after, after.mT)
    return after
