"""Memory that two processes share: what the sandbox asks of it, whatever device it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)

if TYPE_CHECKING:
    import torch

__all__ = ["Region"]


class Region(Protocol):
    """A piece of shared memory in this process's address space. Tensors of it keep it alive."""

    @property
    def num_bytes(self) -> int:
        """As they were asked for; at least one is there."""
        ...

    @property
    def address(self) -> int:
        """Where it begins, in this process, on the device."""
        ...

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """The tensor of a spec as a view.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        ...

    def export(self) -> int:
        """A descriptor for somebody else; the caller owns it."""
        ...
