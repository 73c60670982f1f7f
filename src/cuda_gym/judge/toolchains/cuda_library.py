"""`cuda_extension.library`: matrix products and convolutions where a task allows them.

On a GPU they are cuBLAS and cuDNN, on `cpu` what torch has in their place: `cuda_library_kernels.py`
says how they are reached while torch's operators refuse.

Covered: float32, float64, float16 and bfloat16; strided arguments; 1-d, 2-d and 3-d convolutions.
What is given back is contiguous. Not covered: gradients, integers, transposed convolutions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import torch

from cuda_gym.judge.toolchains.cuda_library_checks import (
    check,
    check_channels,
    check_geometry,
    check_output,
    check_product,
    per_dimension,
)
from cuda_gym.judge.toolchains.cuda_library_convolution import Geometry, make_convolve
from cuda_gym.judge.toolchains.cuda_library_kernels import TorchKernels, row_major

__all__ = ["LIBRARY_CALLS", "library_calls"]

LIBRARY_CALLS = ("gemm", "bmm", "conv")
"""Every call that a task can allow."""


def library_calls(
    allowed: Collection[str],
    on_call: Callable[[str], None],
    device: torch.device,
    *,
    allow_tf32: bool = False,
) -> Mapping[str, Callable[..., torch.Tensor]]:
    """The calls by name; those that are not allowed say so.

    Call it before torch's operators are made to refuse.

    Args:
        allowed: names out of `LIBRARY_CALLS`.
        on_call: told the name of each allowed call that is made.
        device: where tensors must be.
        allow_tf32: whether products of float32 may be rounded to TF32, where a GPU can do that.
    """
    makers = {"gemm": _make_gemm, "bmm": _make_bmm, "conv": _make_conv}
    kernels = TorchKernels(device, allow_tf32=allow_tf32)
    return {
        name: makers[name](kernels, on_call) if name in allowed else _forbidden(name)
        for name in LIBRARY_CALLS
    }


def _forbidden(name: str) -> Callable[..., torch.Tensor]:
    def call(*arguments: object, **named: object) -> torch.Tensor:  # noqa: ARG001
        raise RuntimeError(f"this task does not allow library.{name}; write the kernel")

    return call


def _make_gemm(
    kernels: TorchKernels, on_call: Callable[[str], None]
) -> Callable[..., torch.Tensor]:
    multiply, multiply_add = kernels.product("mm.out"), kernels.product("addmm.out")
    device = kernels.device

    def gemm(
        a: torch.Tensor,
        b: torch.Tensor,
        *,
        out: torch.Tensor | None = None,
        bias: torch.Tensor | None = None,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ) -> torch.Tensor:
        """A @ b, or a @ b + bias, of two matrices."""
        on_call("gemm")
        check("gemm", "a", a, device, num_dims=2)
        check("gemm", "b", b, device, num_dims=2, dtype=a.dtype)
        a, b = a.t() if transpose_a else a, b.t() if transpose_b else b
        check_product("gemm", a, b)
        shape = (a.shape[0], b.shape[1])
        if bias is not None:
            check("gemm", "bias", bias, device, dtype=a.dtype, expands_to=shape)
        if out is not None:
            check_output("gemm", out, shape, a.dtype, device)
        y = kernels.empty(shape, a.dtype) if out is None else row_major(out)
        given = y if out is None else out
        if bias is None:
            multiply(kernels.matrix(a), kernels.matrix(b), out=y)
            return given
        # cuBLAS adds it while it writes. On the host the kernel would copy through the table.
        is_copied = a.is_cpu or a.shape[1] == 0
        start = kernels.copy(y, bias.expand(shape)) if is_copied else bias
        if a.shape[1] > 0:
            multiply_add(start, kernels.matrix(a), kernels.matrix(b), beta=1, alpha=1, out=y)
        return given

    return gemm


def _make_bmm(kernels: TorchKernels, on_call: Callable[[str], None]) -> Callable[..., torch.Tensor]:
    multiply, device = kernels.product("bmm.out"), kernels.device

    def bmm(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """A @ b of two batches of matrices."""
        on_call("bmm")
        check("bmm", "a", a, device, num_dims=3)
        check("bmm", "b", b, device, num_dims=3, dtype=a.dtype)
        check_product("bmm", a, b)
        shape = (a.shape[0], a.shape[1], b.shape[2])
        if out is not None:
            check_output("bmm", out, shape, a.dtype, device)
        y = kernels.empty(shape, a.dtype) if out is None else row_major(out)
        multiply(kernels.matrix(a), kernels.matrix(b), out=y)
        return y if out is None else out

    return bmm


def _make_conv(
    kernels: TorchKernels, on_call: Callable[[str], None]
) -> Callable[..., torch.Tensor]:
    convolve, device = make_convolve(kernels), kernels.device

    def conv(
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        *,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The convolution of x (N, C, ...) with weight (K, C / groups, ...), in 1 to 3 dimensions."""
        on_call("conv")
        check("conv", "x", x, device)
        check("conv", "weight", weight, device, dtype=x.dtype)
        if bias is not None:
            check("conv", "bias", bias, device, dtype=x.dtype)
        check_channels(x, weight, bias, groups)
        num_dims = x.dim() - 2
        geometry = Geometry(
            stride=per_dimension(stride, num_dims),
            padding=per_dimension(padding, num_dims),
            dilation=per_dimension(dilation, num_dims),
            groups=groups,
        )
        shape = check_geometry(x, weight, geometry.stride, geometry.padding, geometry.dilation)
        if out is not None:
            check_output("conv", out, shape, x.dtype, device)
        target = None if out is None else row_major(out)
        if num_dims == 1:  # as torch does it: a picture of height one
            x, weight, geometry = x.unsqueeze(2), weight.unsqueeze(2), geometry.with_height()
            target = None if target is None else target.unsqueeze(2)
        y = convolve(x, weight, bias, geometry, target)
        if target is not None and y is not target:
            kernels.copy(target, y)
        if out is not None:
            return out
        return y.squeeze(2) if num_dims == 1 else y

    return conv
