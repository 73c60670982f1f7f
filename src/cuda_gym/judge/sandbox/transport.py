"""Shared memory between processes on one machine: sealed memfds that hold tensors side by side.

The reference owns every region. An input region is written, then sealed against writing, so that
nobody, not even its owner, can change it: it may be read again at any time. An output region is
sealed in size only; what a candidate wrote there is copied to private memory before it is looked
at. A memfd needs no /dev/shm, of which a default container has 64 MB.

Not covered: devices other than `cpu`.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuda_gym.judge.sandbox.protocol import ProtocolError, TensorSpec, Tree, read_spec

if TYPE_CHECKING:
    import torch

_ALIGNMENT = 64
_F_ADD_SEALS, _F_SEAL_SEAL, _F_SEAL_SHRINK, _F_SEAL_GROW, _F_SEAL_WRITE = 1033, 1, 2, 4, 8
_MADV_POPULATE_READ = 22

NAME = "sealed memfd"
"""As the fingerprint names this transport."""


class Layout:
    """Places tensors one behind the other in a region."""

    def __init__(self) -> None:
        self.num_bytes = 0

    def place(self, tensor: torch.Tensor) -> TensorSpec:
        """Reserve room for a tensor of this shape and dtype."""
        return self.place_like(dtype_name(tensor.dtype), tuple(tensor.shape), tensor.element_size())

    def place_like(self, dtype: str, shape: tuple[int, ...], element_size: int) -> TensorSpec:
        """Reserve room for `shape` elements of `element_size` bytes each."""
        spec = TensorSpec(dtype=dtype, shape=shape, offset=self.num_bytes)
        size = math.prod(shape) * element_size
        self.num_bytes = -(-(self.num_bytes + size) // _ALIGNMENT) * _ALIGNMENT
        return spec


def create_input_region(num_bytes: int, parts: Iterable[tuple[TensorSpec, torch.Tensor]]) -> int:
    """A descriptor of a region that holds these tensors and can never be changed again.

    Raises:
        OSError: where the machine has no memory left.
    """
    descriptor = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, max(num_bytes, 1))
    for spec, tensor in parts:
        _write(descriptor, spec.offset, tensor)
    seals = _F_SEAL_WRITE | _F_SEAL_SHRINK | _F_SEAL_GROW | _F_SEAL_SEAL
    fcntl.fcntl(descriptor, _F_ADD_SEALS, seals)
    return descriptor


def create_output_region(num_bytes: int) -> int:
    """A descriptor of a writable region of fixed size, zero.

    The zeros are written: pages that were only allocated are cleared by whoever touches them first,
    which would be a candidate under the clock (140 MB: 80 ms, measured).
    """
    descriptor = os.memfd_create("outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    zeros = memoryview(bytes(min(max(num_bytes, 1), 1 << 20)))
    for offset in range(0, max(num_bytes, 1), len(zeros)):
        os.pwrite(descriptor, zeros[: max(num_bytes, 1) - offset], offset)
    fcntl.fcntl(descriptor, _F_ADD_SEALS, _F_SEAL_SHRINK | _F_SEAL_GROW | _F_SEAL_SEAL)
    return descriptor


def map_region(descriptor: int, *, shared: bool = False) -> mmap.mmap:
    """Map a region: privately (writes stay here), or shared (writes are seen by its owner).

    The pages are mapped at once, without reading what they hold: no page fault is left to be timed,
    and no cache is warmed.
    """
    flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    region = mmap.mmap(descriptor, 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    try:
        region.madvise(_MADV_POPULATE_READ)
    except OSError:  # Linux before 5.14: one byte of each page
        sum(region[:: mmap.PAGESIZE])
    return region


def tensor_in(region: mmap.mmap, spec: TensorSpec) -> torch.Tensor:
    """The tensor of a spec as a view of the mapped region.

    Raises:
        ProtocolError: where the spec does not fit the region.
    """
    import torch

    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise ProtocolError(f"There is no dtype {spec.dtype!r}.")
    count = math.prod(spec.shape)
    size = count * dtype.itemsize
    if min(spec.shape, default=0) < 0 or spec.offset < 0 or spec.offset + size > len(region):
        raise ProtocolError(f"{spec} does not fit a region of {len(region):,} bytes.")
    if count == 0:
        return torch.empty(spec.shape, dtype=dtype)
    flat = torch.frombuffer(region, dtype=dtype, count=count, offset=spec.offset)
    return flat.view(spec.shape)


def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


# Nested values


def encode_tree(value: Any, place: Layout, parts: list[tuple[TensorSpec, torch.Tensor]]) -> Tree:
    """A nested argument as JSON; its tensors are placed in the layout and added to `parts`.

    Raises:
        TypeError: for a leaf that is neither a tensor nor a plain Python value.
    """
    import torch

    if isinstance(value, torch.Tensor):
        spec = place.place(value)
        parts.append((spec, value))
        return {"tensor": {"dtype": spec.dtype, "shape": list(spec.shape), "offset": spec.offset}}
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


def decode_tree(tree: Tree, region: mmap.mmap | None) -> Any:
    """The nested value of a tree; its tensors are views of the region.

    Raises:
        ProtocolError: where it is no such tree.
    """
    import torch

    if not isinstance(tree, dict) or len(tree) != 1:
        raise ProtocolError("A nested value is {kind: content}.")
    [(kind, content)] = tree.items()
    if kind == "tensor" and region is not None:
        return tensor_in(region, read_spec(content))
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


def _write(descriptor: int, offset: int, tensor: torch.Tensor) -> None:
    import torch

    plain = tensor.detach().cpu().contiguous()
    view = memoryview(plain.reshape(-1).view(torch.uint8).numpy().data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
