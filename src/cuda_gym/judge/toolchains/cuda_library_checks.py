"""What `cuda_extension.library` takes: everything else is refused before a kernel starts, with the reason.

The kernels are called past torch's dispatch table and so past most of torch's own checks; some of them
end the process where a stride is zero.

Covered: kind, device, layout, number format, shape and geometry. Not covered: outputs that overlap inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

__all__ = [
    "check",
    "check_channels",
    "check_geometry",
    "check_output",
    "check_product",
    "per_dimension",
]

_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INNER = (
    "the columns of a and the rows of b must be as many (and the batches, where there are some)"
)


def check(
    call: str,
    name: str,
    tensor: torch.Tensor,
    device: torch.device,
    *,
    num_dims: int | None = None,
    dtype: torch.dtype | None = None,
    expands_to: tuple[int, ...] | None = None,
) -> None:
    """Refuse what is no dense floating tensor on the device, or not as asked."""
    # A subclass could run code of its own in the middle of a call.
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise TypeError(f"library.{call}: {name} is a {type(tensor).__name__}, not a torch.Tensor")
    if tensor.layout is not torch.strided or not _is_on(device, tensor.device):
        raise ValueError(
            f"library.{call}: {name} is a {_layout(tensor)} tensor on {tensor.device}; it must be a "
            f"dense tensor on {device}"
        )
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
    if expands_to is not None and not _expands(tensor.shape, expands_to):
        raise ValueError(
            f"library.{call}: {name} is {_shape(tensor)}; it must expand to {list(expands_to)}"
        )


def check_product(call: str, a: torch.Tensor, b: torch.Tensor) -> None:
    """Refuse matrices that cannot be multiplied."""
    if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"library.{call}: a is {_shape(a)} and b is {_shape(b)}; {_INNER}")


def check_output(
    call: str,
    out: torch.Tensor,
    shape: tuple[int, ...],
    dtype: torch.dtype,
    device: torch.device,
) -> None:
    """Refuse what cannot be written to."""
    check(call, "out", out, device, dtype=dtype)
    if tuple(out.shape) != shape or not out.is_contiguous():
        raise ValueError(
            f"library.{call}: out is {_shape(out)}; it must be contiguous and {list(shape)}"
        )


def check_channels(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, groups: int
) -> None:
    """Refuse shapes that do not fit each other."""
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


def per_dimension(value: int | Sequence[int], num_dims: int) -> list[int]:
    """One number for each dimension."""
    values = [value] * num_dims if isinstance(value, int) else list(value)
    if len(values) != num_dims or not all(isinstance(number, int) for number in values):
        raise ValueError(
            f"library.conv: {value!r} is not one integer, nor {num_dims} of them, for stride, "
            "padding or dilation"
        )
    return values


def check_geometry(
    x: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """Refuse steps below one and filters that do not fit; gives the shape of the output."""
    if min(stride) < 1 or min(dilation) < 1 or min(padding) < 0:
        raise ValueError(
            f"library.conv: stride={list(stride)}, padding={list(padding)}, dilation="
            f"{list(dilation)}; stride and dilation must be at least 1, and padding at least 0"
        )
    padded = [size + 2 * width for size, width in zip(x.shape[2:], padding, strict=True)]
    filters = [step * (size - 1) + 1 for size, step in zip(weight.shape[2:], dilation, strict=True)]
    if any(size < 1 for size in weight.shape) or any(
        room < size for room, size in zip(padded, filters, strict=True)
    ):
        raise ValueError(
            f"library.conv: x has {padded} places with its padding, and weight {_shape(weight)} "
            f"covers {filters} of them with its dilation; it must not be empty, and must fit"
        )
    places = [
        (room - size) // step + 1 for room, size, step in zip(padded, filters, stride, strict=True)
    ]
    return (x.shape[0], weight.shape[0], *places)


def _is_on(device: torch.device, found: torch.device) -> bool:
    return found.type == device.type and device.index in (None, found.index)


def _layout(tensor: torch.Tensor) -> str:
    return "dense" if tensor.layout is torch.strided else "sparse"


def _expands(shape: Sequence[int], target: tuple[int, ...]) -> bool:
    """Whether a tensor of that shape is valid as one of the target's, by repetition."""
    ends = target[len(target) - len(shape) :] if len(shape) <= len(target) else ()
    return len(ends) == len(shape) and all(
        size in (1, end) for size, end in zip(shape, ends, strict=True)
    )


def _shape(tensor: torch.Tensor) -> str:
    return str(list(tensor.shape))
