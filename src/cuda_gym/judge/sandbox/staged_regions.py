"""Shared memory where a GPU cannot export its own: a memfd of the host, copied to the device and back.

Slower than memory of the device itself, and what a race hands over costs more; the Verdict names it.
The device is a parameter: anything that torch copies to.
"""

from __future__ import annotations

from typing import Protocol

import torch

from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.transport import tensor_at

__all__ = ["ReturnedRegion", "StagedRegion"]


class _Copies(Protocol):
    """What is needed of a `WorkerDevice`."""

    @property
    def torch_device(self) -> torch.device: ...

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None: ...

    def synchronise(self) -> None: ...


class StagedRegion:
    """The candidate's end: a memfd, and a copy of it on the device."""

    def __init__(self, memory: MemfdRegion, device: _Copies, *, is_read: bool) -> None:
        self._memory = memory
        self._device = device
        self._staged = torch.empty(memory.num_bytes, dtype=torch.uint8, device=device.torch_device)
        if is_read:
            self._fetch()

    @classmethod
    def open(cls, descriptor: int, device: _Copies, *, is_output: bool) -> StagedRegion:
        """What the reference has made; inputs are copied to the device at once."""
        memory = MemfdRegion.open(descriptor, shared=is_output)
        return cls(memory, device, is_read=not is_output)

    @property
    def num_bytes(self) -> int:
        """As they were asked for; at least one is there."""
        return self._memory.num_bytes

    @property
    def address(self) -> int:
        """Where it begins on the device."""
        return self._staged.data_ptr()

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """The tensor of a spec as a view of the copy on the device.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        return tensor_at(self._staged, spec)

    def export(self) -> int:
        """A descriptor of the memfd; the caller owns it."""
        return self._memory.export()

    def original(self) -> MemfdRegion:
        """What the copy on the device was made of: sealed, where these are inputs."""
        return self._memory

    def publish(self) -> None:
        """Copy what was written on the device to the memfd."""
        self._device.copy(self._memory.flat(), self._staged)
        self._device.synchronise()

    def _fetch(self) -> None:
        self._device.copy(self._staged, self._memory.flat())
        self._device.synchronise()


class ReturnedRegion:
    """The reference's end of staged outputs."""

    def __init__(self, memory: MemfdRegion, device: torch.device) -> None:
        self._memory = memory
        self._device = device

    @property
    def num_bytes(self) -> int:
        """As they were asked for; at least one is there."""
        return self._memory.num_bytes

    @property
    def address(self) -> int:
        """Where it begins on the host."""
        return self._memory.address

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """What lies there now, copied to the device.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        return self._memory.tensor(spec).to(self._device)

    def export(self) -> int:
        """A descriptor of the memfd; the caller owns it."""
        return self._memory.export()
