"""Inputs in allocations of their own, for a checker that knows where an allocation ends.

In a shared region tensors lie side by side, so that an index beyond one of them hits the next, which is
no error that a tool could see. And what another process wrote there looks as if nobody had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.regions import Region

if TYPE_CHECKING:
    from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["CopiedRegion"]


class CopiedRegion:
    """A region whose tensors are copies of those of another one.

    Args:
        region: Where they are copied from.
        device: Copies.
    """

    def __init__(self, region: Region, device: WorkerDevice) -> None:
        self._region = region
        self._device = device

    @property
    def num_bytes(self) -> int:
        """As the other one has."""
        return self._region.num_bytes

    @property
    def address(self) -> int:
        """Where the other one begins."""
        return self._region.address

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """A new tensor with what the spec's holds.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        source = self._region.tensor(spec)
        copy = torch.empty(source.shape, dtype=source.dtype, device=source.device)
        if source.numel():
            self._device.copy(copy, source)
        return copy

    def export(self) -> int:
        """A descriptor of the other one; the caller owns it."""
        return self._region.export()
