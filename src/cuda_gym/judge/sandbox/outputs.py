"""Takes what a forward returned: checks its form, copies its bytes into the output region.

Used on both sides of a comparison, so that both pay the same for it. No torch operator is run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.messages import (
    Tree,
)
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["OutputSink", "changed_input", "require_unchanged"]


class OutputSink:
    """Where the results of some calls go.

    Args:
        device: What copies them.
        targets: The tensors that are due from each call, in order, in the output region.
        inputs: Address and size of the inputs; no output may lie there.
    """

    def __init__(
        self,
        device: WorkerDevice,
        targets: Sequence[Sequence[torch.Tensor]],
        *,
        inputs: tuple[int, int],
    ) -> None:
        self.targets = targets
        self._device = device
        self._inputs = inputs

    def take(self, number: int, value: Any) -> None:
        """Check and copy the result of a call.

        Raises:
            WrongOutput: saying what is due and what came.
        """
        for leaf, target in zip(self.leaves(number, value), self.targets[number], strict=True):
            if leaf.numel():
                self._device.copy(target, leaf.detach())

    def leaves(self, number: int, value: Any) -> Sequence[torch.Tensor]:
        """Check the result of a call; its tensors, in order.

        Raises:
            WrongOutput: saying what is due and what came.
        """
        targets = self.targets[number]
        leaves = transport.flatten_outputs(value)
        if len(leaves) != len(targets):
            what = "nothing (None)" if leaves == [None] else f"{len(leaves)} values"
            raise WrongOutput(f"forward returned {what}; Model returns {len(targets)} tensor(s).")
        for place, (leaf, target) in enumerate(zip(leaves, targets, strict=True)):
            name = "the output" if len(targets) == 1 else f"output {place}"
            _check_form(leaf, target, name)
            if leaf.numel():
                self._check_place(leaf, name)
        return leaves

    def _check_place(self, tensor: torch.Tensor, name: str) -> None:
        start, num_bytes = self._inputs
        if start <= tensor.data_ptr() < start + num_bytes:
            raise WrongOutput(
                f"{name} is an input, or a view of one. Write to a tensor that you allocate."
            )


def require_unchanged(
    device: WorkerDevice, trees: Sequence[Tree], given: Region, original: Region
) -> None:
    """The inputs are the judge's: a submission works on what it allocates.

    Args:
        device: Where they are.
        trees: The arguments of each call.
        given: The region that the submission was given.
        original: What it held, on the host.

    Raises:
        WrongOutput: an input has changed.
    """
    for tree in trees:
        mine, theirs = (
            transport.flatten_outputs(transport.decode_tree(tree, r)) for r in (given, original)
        )
        for number, (tensor, before) in enumerate(zip(mine, theirs, strict=True)):
            if isinstance(tensor, torch.Tensor) and tensor.numel():
                changed = _num_changed(_on_host(device, tensor), before)
                if changed:
                    raise WrongOutput(changed_input(number, changed))


def changed_input(number: int, count: int) -> str:
    """What an agent is told whose forward has written to its input."""
    return (
        f"forward changed {count:,} elements of its input {number}. "
        "Write to a tensor that you allocate."
    )


def _num_changed(now: torch.Tensor, before: torch.Tensor) -> int:
    """Elements with other bits; by NumPy, for operators of torch may refuse."""
    mine, theirs = (
        t.view(-1).view(torch.uint8).numpy().reshape(-1, t.element_size()) for t in (now, before)
    )
    return int((mine != theirs).any(-1).sum())


def _on_host(device: WorkerDevice, tensor: torch.Tensor) -> torch.Tensor:
    if tensor.device.type == "cpu":
        return tensor
    flat = torch.from_numpy(np.empty(tensor.numel() * tensor.element_size(), np.uint8))
    copy = flat.view(tensor.dtype).view(tensor.shape)
    device.copy(copy, tensor)
    device.synchronise()
    return copy


def _check_form(leaf: Any, target: torch.Tensor, name: str) -> None:
    due_dtype, due_shape = transport.dtype_name(target.dtype), tuple(target.shape)
    due = f"Model returns a tensor, {due_dtype} {due_shape}"
    if leaf is None:
        raise WrongOutput(f"{name} is None; {due}. Is a `return` missing?")
    if type(leaf) is not torch.Tensor:
        raise WrongOutput(f"{name} is a {type(leaf).__name__}; {due}. Return a torch.Tensor.")
    dtype, shape = transport.dtype_name(leaf.dtype), tuple(leaf.shape)
    if dtype != due_dtype:
        raise WrongOutput(
            f"{name} is {dtype} {shape}; {due}. Allocate it with dtype=torch.{due_dtype}."
        )
    if shape != due_shape:
        raise WrongOutput(f"{name} has the shape {shape}; {due}. {_reshaping(shape, due_shape)}")
    if leaf.device != target.device or leaf.layout is not torch.strided:
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
