"""torch's own kernels for one device, called past its dispatch table.

They are taken out of the table when the library is made, so that they work while the operators in the
table refuse; there is no switch that would let anything else through. A kernel that is taken must
call no refused operator itself: those for GPUs hand over to cuBLAS and cuDNN, and allocate, view and
fill, which is allowed. What they would copy on their own, as a matrix with two strides, is copied here
before.

Covered: `cpu`, and every GPU for which torch is built. Not covered: what another version of torch makes of
these kernels; the tests that let torch refuse and then call the library find that out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import torch

__all__ = ["Kernel", "TorchKernels", "row_major"]

Kernel = Callable[..., torch.Tensor]
"""Called as the operator is, with all that it has no default for."""


@final
class TorchKernels:
    """Kernels by the name of their operator, and the copies that they need."""

    def __init__(self, device: torch.device, *, allow_tf32: bool) -> None:
        self.device = device
        self.allow_tf32 = allow_tf32
        """Whether products of float32 may be rounded to TF32, where a GPU can do that."""
        self._key = device.type.upper()
        self.copy = self.take("copy_")

    def take(self, name: str) -> Kernel:
        """The kernel of an operator, as `mm.out`."""
        call_boxed = torch.library.get_kernel(f"aten::{name}", self._key).call_boxed
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.__members__[self._key])

        def call(*arguments: Any, **named: Any) -> torch.Tensor:
            result: torch.Tensor = call_boxed(keys, *arguments, **named)
            return result

        return call

    def product(self, name: str) -> Kernel:
        """A kernel that hands over to BLAS, in the precision that the task asks for."""
        kernel = self.take(name)
        if self.device.type == "cpu":
            return kernel

        def call(*arguments: Any, **named: Any) -> torch.Tensor:
            # At each call, since the submission can set it, too.
            torch._C._set_cublas_allow_tf32(self.allow_tf32)
            return kernel(*arguments, **named)

        return call

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Room on the device."""
        return torch.empty(shape, dtype=dtype, device=self.device)

    def dense(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in the order of its rows; a copy where it is not."""
        if tensor.is_contiguous():
            return row_major(tensor)
        return self.copy(self.empty(tensor.shape, tensor.dtype), tensor)

    def matrix(self, matrix: torch.Tensor) -> torch.Tensor:
        """The matrices as BLAS can read them, by rows or by columns; a copy where it cannot."""
        if matrix.is_contiguous():
            return row_major(matrix)
        (rows, columns), (row_stride, column_stride) = matrix.shape[-2:], matrix.stride()[-2:]
        by_rows = column_stride == 1 and row_stride >= columns
        by_columns = row_stride == 1 and column_stride >= rows
        return matrix if by_rows or by_columns else self.dense(matrix)


def row_major(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor with the strides of a new one.

    Strides of dimensions of size one are free, but libraries and torch's guesses at a layout read them.
    """
    if 1 not in tensor.shape:
        return tensor
    strides, step = [], 1
    for size in reversed(tensor.shape):
        strides.append(step)
        step *= max(1, size)
    strides.reverse()
    if tensor.stride() == tuple(strides):
        return tensor
    return tensor.as_strided(tensor.shape, strides)
