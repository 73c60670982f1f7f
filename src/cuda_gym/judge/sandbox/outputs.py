"""Takes what a forward returned: checks its form, copies its bytes into the output region.

Used on both sides of a comparison, so that both pay the same for it. No torch operator is run.
"""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.protocol import TensorSpec


class OutputSink:
    """A mapped output region into which results are copied."""

    def __init__(self, region: mmap.mmap) -> None:
        self._region = region
        self._base, self._num_bytes = self.span_of(region)

    @staticmethod
    def span_of(region: mmap.mmap) -> tuple[int, int]:
        """Address and size of a mapped region."""
        array = np.frombuffer(region, np.uint8)
        return array.ctypes.data, array.nbytes

    def scratch(self, spec: TensorSpec) -> torch.Tensor:
        """A private tensor of this form, its pages touched."""
        dtype = getattr(torch, spec.dtype)
        count = math.prod(spec.shape) * dtype.itemsize
        flat = torch.from_numpy(np.ones(max(count, 1), np.uint8))[:count]
        return flat.view(dtype).view(spec.shape) if count else torch.empty(spec.shape, dtype=dtype)

    def take(self, value: Any, specs: Sequence[TensorSpec], inputs: tuple[int, int]) -> None:
        """Check and copy one result.

        Args:
            value: what forward returned.
            specs: the tensors that are due, in order, and where each goes.
            inputs: address and size of the inputs; no output may lie there.

        Raises:
            WrongOutput: saying what is due and what came.
        """
        leaves = transport.flatten_outputs(value)
        if len(leaves) != len(specs):
            what = "nothing (None)" if leaves == [None] else f"{len(leaves)} values"
            raise WrongOutput(f"forward returned {what}; Model returns {len(specs)} tensor(s).")
        for number, (leaf, spec) in enumerate(zip(leaves, specs, strict=True)):
            name = "the output" if len(specs) == 1 else f"output {number}"
            _check_form(leaf, spec, name)
            self._copy(leaf, spec, name, inputs)

    def _copy(
        self, tensor: torch.Tensor, spec: TensorSpec, name: str, inputs: tuple[int, int]
    ) -> None:
        num_bytes = tensor.numel() * tensor.element_size()
        if num_bytes == 0:
            return
        address = tensor.data_ptr()
        if inputs[0] <= address < inputs[0] + inputs[1]:
            raise WrongOutput(
                f"{name} is an input, or a view of one. Write to a tensor that you allocate."
            )
        if spec.offset + num_bytes > self._num_bytes:
            raise WrongOutput(f"{name} does not fit its place.")
        if tensor.is_contiguous():
            ctypes.memmove(self._base + spec.offset, address, num_bytes)
        else:
            plain = tensor.detach()
            plain = plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain
            array = plain.numpy()
            target = np.frombuffer(self._region, array.dtype, array.size, spec.offset)
            target.reshape(array.shape)[...] = array


def _check_form(leaf: Any, spec: TensorSpec, name: str) -> None:
    due = f"Model returns a tensor, {spec.dtype} {spec.shape}"
    if leaf is None:
        raise WrongOutput(f"{name} is None; {due}. Is a `return` missing?")
    if type(leaf) is not torch.Tensor:
        raise WrongOutput(f"{name} is a {type(leaf).__name__}; {due}. Return a torch.Tensor.")
    dtype, shape = transport.dtype_name(leaf.dtype), tuple(leaf.shape)
    if dtype != spec.dtype:
        raise WrongOutput(
            f"{name} is {dtype} {shape}; {due}. Allocate it with dtype=torch.{spec.dtype}."
        )
    if shape != spec.shape:
        raise WrongOutput(f"{name} has the shape {shape}; {due}. {_reshaping(shape, spec.shape)}")
    if leaf.device.type != "cpu" or leaf.layout is not torch.strided:
        raise WrongOutput(
            f"{name} lies on {leaf.device} as {leaf.layout}; {due}, dense and on the inputs' device."
        )


def _reshaping(shape: tuple[int, ...], due: tuple[int, ...]) -> str:
    """How one shape is made another."""
    if math.prod(shape) != math.prod(due):
        return f"Allocate it with torch.empty({due}, ...)."
    if sorted(shape) == sorted(due) and len(due) > 1:
        return "Its dimensions are in another order: write its elements in Model's order."
    return f"It has as many elements: return it as .view{due}."
