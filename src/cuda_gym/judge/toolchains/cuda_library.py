"""`cuda_extension.library`: matrix products and convolutions where a task allows them, on `cpu`.

What cuBLAS and cuDNN are on a GPU, torch's own kernels are here. They are taken out of torch's
dispatch table when the library is made, and called past the table, so that they work while the
operators in the table refuse; there is no switch that would let anything else through. The kernels
were chosen because they call no refused operator themselves; what they need copied is copied here.

Covered: float32, float64, float16 and bfloat16; strided arguments; 1-d, 2-d and 3-d convolutions.
Not covered: gradients, integers, transposed convolutions, and GPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch

__all__ = ["LIBRARY_CALLS", "library_calls"]

LIBRARY_CALLS = ("gemm", "bmm", "conv")
"""Every call that a task can allow."""


def library_calls(
    allowed: Collection[str], on_call: Callable[[str], None]
) -> Mapping[str, Callable[..., torch.Tensor]]:
    """The calls by name; those that are not allowed say so.

    Call it before torch's operators are made to refuse.

    Args:
        allowed: names out of `LIBRARY_CALLS`.
        on_call: told the name of each allowed call that is made.
    """
    makers = {"gemm": _make_gemm, "bmm": _make_bmm, "conv": _make_conv}
    return {
        name: makers[name](on_call) if name in allowed else _forbidden(name)
        for name in LIBRARY_CALLS
    }


def _forbidden(name: str) -> Callable[..., torch.Tensor]:
    def call(*arguments: object, **named: object) -> torch.Tensor:  # noqa: ARG001
        raise RuntimeError(f"this task does not allow library.{name}; write the kernel")

    return call


def _make_gemm(on_call: Callable[[str], None]) -> Callable[..., torch.Tensor]:
    multiply, multiply_add, copy = _kernel("mm.out"), _kernel("addmm.out"), _kernel("copy_")
    dense = _make_dense()

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
        _check("gemm", "a", a, num_dims=2)
        _check("gemm", "b", b, num_dims=2, dtype=a.dtype)
        a, b = a.t() if transpose_a else a, b.t() if transpose_b else b
        if a.shape[1] != b.shape[0]:
            raise ValueError(f"library.gemm: a is {_shape(a)} and b is {_shape(b)}; {_INNER}")
        out = _output("gemm", out, (a.shape[0], b.shape[1]), a)
        if bias is None:
            multiply(_blas(a, dense), _blas(b, dense), out=out)
        else:
            _check("gemm", "bias", bias, dtype=a.dtype)
            copy(out, bias.expand(out.shape))
            multiply_add(out, _blas(a, dense), _blas(b, dense), beta=1, alpha=1, out=out)
        return out

    return gemm


def _make_bmm(on_call: Callable[[str], None]) -> Callable[..., torch.Tensor]:
    multiply, dense = _kernel("bmm.out"), _make_dense()

    def bmm(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """A @ b of two batches of matrices."""
        on_call("bmm")
        _check("bmm", "a", a, num_dims=3)
        _check("bmm", "b", b, num_dims=3, dtype=a.dtype)
        if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
            raise ValueError(f"library.bmm: a is {_shape(a)} and b is {_shape(b)}; {_INNER}")
        out = _output("bmm", out, (a.shape[0], a.shape[1], b.shape[2]), a)
        multiply(_blas(a, dense), _blas(b, dense), out=out)
        return out

    return bmm


def _make_convolve() -> _Convolve:
    """A convolution in two or three dimensions, its arguments checked."""
    fast = _kernel("mkldnn_convolution") if _has_mkldnn() else None
    fast_dtypes = _mkldnn_dtypes()
    slow = {2: _kernel("slow_conv_dilated2d"), 3: _kernel("slow_conv_dilated3d")}
    copy, add, dense = _kernel("copy_"), _kernel("add_.Tensor"), _make_dense()

    def convolve(
        x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, geometry: _Geometry
    ) -> torch.Tensor:
        stride, padding, dilation, groups = geometry
        if fast is not None and x.dtype in fast_dtypes:
            return fast(dense(x), dense(weight), bias, padding, stride, dilation, groups)
        kernel_size = list(weight.shape[2:])
        parts = [
            slow[len(kernel_size)](
                dense(x_part), dense(w_part), kernel_size, None, stride, padding, dilation
            )
            for x_part, w_part in zip(x.chunk(groups, 1), weight.chunk(groups, 0), strict=True)
        ]
        y = parts[0]
        if groups > 1:
            y = torch.empty((x.shape[0], weight.shape[0], *y.shape[2:]), dtype=x.dtype)
            for target, part in zip(y.chunk(groups, 1), parts, strict=True):
                copy(target, part)
        if bias is not None:
            add(y, bias.view(-1, *[1] * len(kernel_size)))
        return y

    return convolve


def _make_conv(on_call: Callable[[str], None]) -> Callable[..., torch.Tensor]:
    convolve, copy = _make_convolve(), _kernel("copy_")

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
        _check("conv", "x", x)
        _check("conv", "weight", weight, dtype=x.dtype)
        if bias is not None:
            _check("conv", "bias", bias, dtype=x.dtype)
        _check_channels(x, weight, bias, groups)
        num_dims = x.dim() - 2
        geometry = [_per_dimension(value, num_dims) for value in (stride, padding, dilation)]
        if num_dims == 1:  # as torch does it: a picture of height one
            x, weight = x.unsqueeze(2), weight.unsqueeze(2)
            geometry = [
                [neutral, *value] for neutral, value in zip((1, 0, 1), geometry, strict=True)
            ]
        y = convolve(x, weight, bias, (geometry[0], geometry[1], geometry[2], groups))
        y = y.squeeze(2) if num_dims == 1 else y
        return y if out is None else copy(_output("conv", out, tuple(y.shape), y), y)

    return conv


_Geometry = tuple[list[int], list[int], list[int], int]
"""Stride, padding and dilation for each dimension, and the number of groups."""
_Convolve = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None, _Geometry], torch.Tensor]
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INNER = (
    "the columns of a and the rows of b must be as many (and the batches, where there are some)"
)


def _kernel(name: str) -> Callable[..., torch.Tensor]:
    """One of torch's kernels for the CPU, called past the dispatch table."""
    call_boxed = torch.library.get_kernel(f"aten::{name}", "CPU").call_boxed
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)

    def call(*arguments: Any, **named: Any) -> torch.Tensor:
        result: torch.Tensor = call_boxed(keys, *arguments, **named)
        return result

    return call


def _make_dense() -> Callable[[torch.Tensor], torch.Tensor]:
    """What makes a tensor contiguous, with torch's own kernel for copies."""
    copy = _kernel("copy_")

    def dense(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_contiguous():
            return tensor
        return copy(torch.empty(tensor.shape, dtype=tensor.dtype), tensor)

    return dense


def _blas(matrix: torch.Tensor, dense: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The matrices as BLAS can read them, by rows or by columns; a copy where it cannot."""
    (rows, columns), (row_stride, column_stride) = matrix.shape[-2:], matrix.stride()[-2:]
    by_rows = column_stride == 1 and row_stride >= columns
    by_columns = row_stride == 1 and column_stride >= rows
    return matrix if by_rows or by_columns else dense(matrix)


def _has_mkldnn() -> bool:
    return bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]


def _mkldnn_dtypes() -> frozenset[torch.dtype]:
    """What MKL-DNN convolves on this processor."""
    if not _has_mkldnn():
        return frozenset()
    dtypes = {torch.float32}
    if torch.ops.mkldnn._is_mkldnn_bf16_supported():
        dtypes.add(torch.bfloat16)
    if torch.ops.mkldnn._is_mkldnn_fp16_supported():
        dtypes.add(torch.float16)
    return frozenset(dtypes)


def _check(
    call: str,
    name: str,
    tensor: torch.Tensor,
    *,
    num_dims: int | None = None,
    dtype: torch.dtype | None = None,
) -> None:
    """Refuse what is no dense floating tensor on the CPU, or not as asked."""
    # A subclass could run code of its own in the middle of a call.
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise TypeError(f"library.{call}: {name} is a {type(tensor).__name__}, not a torch.Tensor")
    if not tensor.is_cpu or tensor.layout is not torch.strided:
        raise ValueError(f"library.{call}: {name} is not a dense tensor on the cpu")
    if tensor.dtype not in _DTYPES or tensor.dtype is not (dtype or tensor.dtype):
        raise TypeError(
            f"library.{call}: {name} is {tensor.dtype}; all tensors must have one dtype out of "
            "float32, float64, float16 and bfloat16"
        )
    if num_dims is not None and tensor.dim() != num_dims:
        raise ValueError(
            f"library.{call}: {name} is {_shape(tensor)}; it must have {num_dims} dimensions: "
            "view() it so"
        )


def _check_channels(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, groups: int
) -> None:
    """Refuse shapes that do not fit each other, which the kernels do not check."""
    if x.dim() != weight.dim() or x.dim() not in (3, 4, 5):
        raise ValueError(
            f"library.conv: x is {_shape(x)} and weight is {_shape(weight)}; both must have 3, 4 "
            "or 5 dimensions: (N, C, ...) and (K, C / groups, ...)"
        )
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ValueError(
            f"library.conv: x has {x.shape[1]} channels; weight {_shape(weight)} with groups="
            f"{groups} needs {weight.shape[1] * groups}, and a multiple of groups as first dimension"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"library.conv: bias is {_shape(bias)}; it must be [{weight.shape[0]}], one for each "
            "output channel"
        )


def _per_dimension(value: int | Sequence[int], num_dims: int) -> list[int]:
    """One number for each dimension."""
    values = [value] * num_dims if isinstance(value, int) else list(value)
    if len(values) != num_dims or not all(isinstance(number, int) for number in values):
        raise ValueError(
            f"library.conv: {value!r} is not one integer, nor {num_dims} of them, for stride, "
            "padding or dilation"
        )
    return values


def _output(
    call: str, out: torch.Tensor | None, shape: tuple[int, ...], like: torch.Tensor
) -> torch.Tensor:
    """The tensor to write to."""
    if out is None:
        return torch.empty(shape, dtype=like.dtype)
    _check(call, "out", out, dtype=like.dtype)
    if tuple(out.shape) != shape or not out.is_contiguous():
        raise ValueError(
            f"library.{call}: out is {_shape(out)}; it must be contiguous and {list(shape)}"
        )
    return out


def _shape(tensor: torch.Tensor) -> str:
    return str(list(tensor.shape))
