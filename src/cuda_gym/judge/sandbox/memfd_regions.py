"""Memory of the host that processes share: sealed memfds.

The reference makes every region. An input region is written, then sealed against writing, so that
nobody, not even its owner, can change it: it may be read again at any time. An output region is
sealed in size only; what a candidate wrote there is copied to private memory before it is looked
at. A memfd needs no /dev/shm, of which a default container has 64 MB.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterable

import numpy as np
import torch

from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.transport import tensor_at

__all__ = ["MemfdRegion"]

_F_ADD_SEALS, _F_SEAL_SEAL, _F_SEAL_SHRINK, _F_SEAL_GROW, _F_SEAL_WRITE = 1033, 1, 2, 4, 8
_MADV_POPULATE_READ = 22


class MemfdRegion:
    """A mapped memfd. Owns its descriptor."""

    def __init__(self, descriptor: int, *, shared: bool) -> None:
        self._descriptor = descriptor
        self._mapped = _map(descriptor, shared=shared)
        self._flat = torch.frombuffer(self._mapped, dtype=torch.uint8)

    @classmethod
    def create_inputs(
        cls, num_bytes: int, parts: Iterable[tuple[TensorSpec, torch.Tensor]]
    ) -> MemfdRegion:
        """A region that holds these tensors and can never be changed again.

        Raises:
            OSError: where the machine has no memory left.
        """
        descriptor = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, max(num_bytes, 1))
        for spec, tensor in parts:
            _write(descriptor, spec.offset, tensor)
        seals = _F_SEAL_WRITE | _F_SEAL_SHRINK | _F_SEAL_GROW | _F_SEAL_SEAL
        fcntl.fcntl(descriptor, _F_ADD_SEALS, seals)
        return cls(descriptor, shared=False)

    @classmethod
    def create_outputs(cls, num_bytes: int) -> MemfdRegion:
        """A writable region of fixed size, zero.

        The zeros are written: pages that were only allocated are cleared by whoever touches them
        first, which would be a candidate under the clock (140 MB: 80 ms, measured).
        """
        descriptor = os.memfd_create("outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        zeros = memoryview(bytes(min(max(num_bytes, 1), 1 << 20)))
        for offset in range(0, max(num_bytes, 1), len(zeros)):
            os.pwrite(descriptor, zeros[: max(num_bytes, 1) - offset], offset)
        fcntl.fcntl(descriptor, _F_ADD_SEALS, _F_SEAL_SHRINK | _F_SEAL_GROW | _F_SEAL_SEAL)
        return cls(descriptor, shared=True)

    @classmethod
    def open(cls, descriptor: int, *, shared: bool) -> MemfdRegion:
        """What somebody else has made: mapped privately (writes stay here), or shared with its owner.

        The descriptor stays the caller's.
        """
        return cls(os.dup(descriptor), shared=shared)

    @property
    def num_bytes(self) -> int:
        """As they were asked for; at least one is there."""
        return len(self._mapped)

    @property
    def address(self) -> int:
        """Where it begins in this process."""
        return int(np.frombuffer(self._mapped, np.uint8).ctypes.data)

    def flat(self) -> torch.Tensor:
        """All of it as one tensor of uint8."""
        return self._flat

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """The tensor of a spec as a view.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        return tensor_at(self._flat, spec)

    def export(self) -> int:
        """A descriptor for somebody else; the caller owns it."""
        return os.dup(self._descriptor)

    def original(self) -> MemfdRegion | None:
        """What the owner sees, where this process has changed its private copy; None if it has not."""
        clean = MemfdRegion.open(self._descriptor, shared=False)
        same = np.array_equal(
            np.frombuffer(self._mapped, np.uint8), np.frombuffer(clean._mapped, np.uint8)
        )
        return None if same else clean

    def __del__(self) -> None:
        os.close(self._descriptor)


def _map(descriptor: int, *, shared: bool) -> mmap.mmap:
    """The pages are mapped at once, without reading what they hold.

    No page fault is left to be timed, and no cache is warmed.
    """
    flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    region = mmap.mmap(descriptor, 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    try:
        region.madvise(_MADV_POPULATE_READ)
    except OSError:  # Linux before 5.14: one byte of each page
        sum(region[:: mmap.PAGESIZE])
    return region


def _write(descriptor: int, offset: int, tensor: torch.Tensor) -> None:
    plain = tensor.detach().cpu().contiguous()
    view = memoryview(plain.reshape(-1).view(torch.uint8).numpy().data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
