"""Outputs of a timed block, which stay where the submission has put them until the judge has read them from outside.

What the harness copies is copied under the judge's clock, in a process that the submission shares: who left the copy
out would have its time for himself. So where a process can be read while it stands still, none is made.

Covered: outputs with strides; a submission that returns the same memory from every call, whose copies are then a part
of its calls. Not covered: who reads them (`outside_memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.messages import WIDEST
from cuda_gym.judge.sandbox.outputs import OutputSink
from cuda_gym.judge.sandbox.telling import Told
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["KeptOutputs"]

_AGAIN = (
    "forward returned memory that an earlier call has returned, which is still held. Allocate each output, or "
    "return the same one from every call."
)


class KeptOutputs:
    """Of one block after the other.

    Args:
        device: Where they are.
    """

    def __init__(self, device: WorkerDevice) -> None:
        self._device = device
        self._held: list[torch.Tensor] = []
        self._addresses: set[int] = set()
        """Of outputs of earlier calls."""
        self._places: list[tuple[int, ...]] = []
        self._returned: list[torch.Tensor] = []
        """By the latest call that was noted."""
        self.copies = False
        """Whether calls return memory that is the next one's, so that they are to be followed by a copy."""
        self._has_strides = False
        """Whether an output was seen that does not lie in a row."""

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Of each output its address, then its strides in elements; nothing of one without elements."""
        return tuple(self._places)

    def note(self, value: Any) -> None:
        """Find out how a call returns its outputs: in memory that the one before has returned, or with strides."""
        leaves = [leaf for leaf in transport.flatten_outputs(value) if type(leaf) is torch.Tensor]
        earlier = {leaf.data_ptr() for leaf in self._returned if leaf.numel()}
        self.copies |= any(leaf.data_ptr() in earlier for leaf in leaves if leaf.numel())
        self._has_strides |= not all(leaf.is_contiguous() for leaf in leaves)
        self._returned = leaves

    def call(
        self, forward: Callable[[Any], Any], *, in_a_row: bool = False
    ) -> Callable[[Any], Any]:
        """The same, followed by a copy where it needs one: that is a part of the call.

        Args:
            forward: Is called.
            in_a_row: Whether outputs with strides need one, too, as they do in a sealed block.
        """
        if self.copies or (in_a_row and self._has_strides):
            return lambda arguments: self._copied(forward(arguments))
        return forward

    def keep(self, sink: OutputSink, number: int, value: Any) -> None:
        """Check the result of a call, and hold it.

        Raises:
            WrongOutput: saying what is due and what came.
            Told: an earlier output was written over; from now on each is copied.
        """
        leaves = [self._narrow(leaf) for leaf in sink.leaves(number, value)]
        self.require_new(leaves)
        self._held += leaves
        self._places += [
            (leaf.data_ptr(), *leaf.stride()) if leaf.numel() else () for leaf in leaves
        ]

    def require_new(self, leaves: Sequence[torch.Tensor]) -> None:
        """Of outputs that are still held until the block is over.

        Raises:
            Told: an earlier output is written over; from now on each is copied.
        """
        addresses = {leaf.data_ptr() for leaf in leaves if leaf.numel()}
        if addresses & self._addresses:
            self.copies = True
            raise Told("again", _AGAIN)
        self._addresses |= addresses

    def let_go(self) -> None:
        """Of all that is held: its memory is that of the next calls."""
        self._held, self._places, self._addresses, self._returned = [], [], set(), []

    def _narrow(self, leaf: torch.Tensor) -> torch.Tensor:
        span = 1 + sum((n - 1) * step for n, step in zip(leaf.shape, leaf.stride(), strict=True))
        return self._copy(leaf) if span > WIDEST * leaf.numel() > 0 else leaf

    def _copied(self, value: Any) -> Any:
        leaves = transport.flatten_outputs(value)
        return [self._copy(leaf) if type(leaf) is torch.Tensor else leaf for leaf in leaves]

    def _copy(self, leaf: torch.Tensor) -> torch.Tensor:
        copy = self._device.scratch(leaf)
        if leaf.numel():
            self._device.copy(copy, leaf.detach())
        return copy
