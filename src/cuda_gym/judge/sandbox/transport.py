"""Tensors side by side in a region of shared memory, and nested values as JSON that points into it.

Pure but for torch: which memory a region is, and who may write there, the devices know
(`memfd_regions`, `cuda_regions`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
    Tree,
)
from cuda_gym.judge.sandbox.protocol import ProtocolError, read_spec

if TYPE_CHECKING:
    import torch

    from cuda_gym.judge.sandbox.regions import Region

__all__ = [
    "Layout",
    "decode_tree",
    "dtype_name",
    "encode_tree",
    "flatten_outputs",
    "form_of",
    "in_a_row",
    "plain_spec",
    "tensor_at",
]


class Layout:
    """Places tensors one behind the other in a region.

    Args:
        alignment: Of each of them, in bytes; what an allocator of the device would give.
    """

    def __init__(self, alignment: int) -> None:
        self.num_bytes = 0
        self._alignment = alignment

    def place(self, tensor: torch.Tensor) -> TensorSpec:
        """Reserve room for a tensor of this shape and dtype."""
        shape = tuple(tensor.shape)
        spec = TensorSpec(dtype=dtype_name(tensor.dtype), shape=shape, offset=self.num_bytes)
        size = math.prod(shape) * tensor.element_size()
        self.num_bytes = -(-(self.num_bytes + size) // self._alignment) * self._alignment
        return spec


def form_of(spec: TensorSpec) -> torch.Tensor:
    """A tensor of the dtype and the shape of a spec, which takes no memory."""
    import torch

    return torch.empty((1,) * len(spec.shape), dtype=_dtype_of(spec)).expand(spec.shape)


def _dtype_of(spec: TensorSpec) -> torch.dtype:
    import torch

    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise ProtocolError(f"There is no dtype {spec.dtype!r}.")
    return dtype


def tensor_at(region: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """The tensor of a spec as a view of a region's bytes; allocates and computes nothing.

    Args:
        region: uint8, one dimension.
        spec: Where in it the tensor lies.

    Raises:
        ProtocolError: where the spec does not fit the region.
    """
    import torch

    dtype = _dtype_of(spec)
    size = math.prod(spec.shape) * dtype.itemsize
    if min(spec.shape, default=0) < 0 or spec.offset < 0 or spec.offset + size > region.numel():
        raise ProtocolError(f"{spec} does not fit a region of {region.numel():,} bytes.")
    if size == 0:
        return torch.empty(spec.shape, dtype=dtype, device=region.device)
    return region[spec.offset : spec.offset + size].view(dtype).view(spec.shape)


def in_a_row(tensor: torch.Tensor) -> torch.Tensor:
    """All elements one behind the other, which can be read in numbers of another size.

    >>> import torch
    >>> in_a_row(torch.zeros(9)[::3][:1]).view(torch.uint8).numel()
    4
    """
    # Not `view(-1)`: a single element is contiguous whatever its stride is, and keeps that.
    return tensor.contiguous().as_strided((tensor.numel(),), (1,))


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def encode_tree(value: Any, place: Layout, parts: list[tuple[TensorSpec, torch.Tensor]]) -> Tree:
    """A nested argument as JSON; its tensors are placed in the layout and added to `parts`.

    Raises:
        TypeError: for a leaf that is neither a tensor nor a plain Python value.
    """
    import torch

    if isinstance(value, torch.Tensor):
        spec = place.place(value)
        parts.append((spec, value))
        return {"tensor": plain_spec(spec)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return {"plain": value}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, Mapping):
        return {"dict": [[key, encode_tree(item, place, parts)] for key, item in value.items()]}
    if isinstance(value, Sequence):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode_tree(item, place, parts) for item in value]}
    raise TypeError(f"A {type(value).__name__} cannot be handed to a submission.")


def plain_spec(spec: TensorSpec) -> dict[str, Any]:
    """As JSON; `dataclasses.asdict` takes ten times as long.

    >>> plain_spec(TensorSpec(dtype="int8", shape=(2,), offset=64))
    {'dtype': 'int8', 'shape': [2], 'offset': 64}
    """
    return {"dtype": spec.dtype, "shape": list(spec.shape), "offset": spec.offset}


def decode_tree(tree: Tree, region: Region | None) -> Any:
    """The nested value of a tree; its tensors are views of the region.

    Raises:
        ProtocolError: where it is no such tree.
    """
    import torch

    if not isinstance(tree, dict) or len(tree) != 1:
        raise ProtocolError("A nested value is {kind: content}.")
    [(kind, content)] = tree.items()
    if kind == "tensor" and region is not None:
        return region.tensor(read_spec(content))
    if kind == "dict":
        return {key: decode_tree(item, region) for key, item in content}
    if kind in {"list", "tuple"}:
        items = [decode_tree(item, region) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "float":
        return float(content)
    if kind == "dtype":
        return getattr(torch, content)
    if kind == "plain":
        return content
    raise ProtocolError(f"There is no nested value of kind {kind!r}.")


def flatten_outputs(value: Any) -> list[Any]:
    """The leaves of what a forward returned, in order: tensors, and numbers as they are."""
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in flatten_outputs(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten_outputs(item)]
    return [value]
