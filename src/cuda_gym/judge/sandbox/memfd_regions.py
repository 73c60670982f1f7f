"""Memory of the host that processes share: sealed memfds.

The reference makes every region. An input region is written, then sealed, so that nobody but its owner can
change it: it may be read again at any time. The owner may, through a mapping of before the seal, and so gives
new contents to those who have mapped it already (while they are frozen); pages that they wrote to are their own
and stay as they are. Where Linux has no such seal, nobody can, and new contents are a new region.
Each process reads its inputs in a private mapping: what it writes there reaches nobody.

An output region is sealed in size only; what a candidate wrote there is copied to private memory before it is
looked at. A memfd needs no /dev/shm, of which a default container has 64 MB.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from cuda_gym.judge.profiling import memory_seals
from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.transport import in_a_row, tensor_at

__all__ = ["MemfdRegion"]

_MADV_POPULATE_READ = 22


class MemfdRegion:
    """A mapped memfd. Owns its descriptor."""

    def __init__(self, descriptor: int, *, shared: bool) -> None:
        self._descriptor = descriptor
        self._mapped = _map(descriptor, shared=shared)
        self._flat = torch.frombuffer(self._mapped, dtype=torch.uint8)
        self._writable: torch.Tensor | None = None
        """What the owner of inputs writes to, where it can."""

    @classmethod
    def create_inputs(
        cls, num_bytes: int, parts: Iterable[tuple[TensorSpec, torch.Tensor]]
    ) -> MemfdRegion:
        """A region that holds these tensors, and that nobody else can change.

        Raises:
            OSError: where the machine has no memory left.
        """
        descriptor = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, max(num_bytes, 1))
        for spec, tensor in parts:
            _write(descriptor, spec.offset, tensor)
        writable = None
        if memory_seals.seals_future_writes():
            writable = torch.frombuffer(mmap.mmap(descriptor, 0), dtype=torch.uint8)
        seal = memory_seals.WRITE if writable is None else memory_seals.FUTURE_WRITE
        memory_seals.add_seals(descriptor, seal | memory_seals.SIZE)
        region = cls(descriptor, shared=False)
        region._writable = writable
        return region

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
        memory_seals.add_seals(descriptor, memory_seals.SIZE)
        return cls(descriptor, shared=True)

    @classmethod
    def open(cls, descriptor: int, *, shared: bool) -> MemfdRegion:
        """What somebody else has made: mapped privately (writes stay here), or shared with its owner.

        The descriptor stays the caller's.
        """
        return cls(os.dup(descriptor), shared=shared)

    def write_again(self, num_bytes: int, parts: Iterable[tuple[TensorSpec, torch.Tensor]]) -> bool:
        """Put other tensors in the place of those of before, if this process may and they fit exactly.

        Whoever has the region mapped sees them, but for pages that it has written to.
        """
        if self._writable is None or self.num_bytes != max(num_bytes, 1):
            return False
        for spec, tensor in parts:
            tensor_at(self._writable, spec).copy_(tensor.detach())
        self.forget_writes()
        return True

    def forget_writes(self) -> None:
        """In a private mapping: let go of pages that this process has written to, and see the owner's."""
        self._mapped.madvise(mmap.MADV_DONTNEED)
        _populate(self._mapped)

    def has_own_pages(self) -> bool:
        """Whether this process has written to its private mapping, be it what was there before."""
        return _anonymous_kb(self.address) > 0

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
    _populate(region)
    return region


def _populate(region: mmap.mmap) -> None:
    try:
        region.madvise(_MADV_POPULATE_READ)
    except OSError:  # Linux before 5.14: one byte of each page
        sum(region[:: mmap.PAGESIZE])


def _anonymous_kb(address: int) -> int:
    """Of the mapping that begins there; 0 where /proc does not tell."""
    start, found = f"{address:x}-".encode(), False
    try:
        with Path("/proc/self/smaps").open("rb") as lines:
            for line in lines:
                found = found or line.startswith(start)
                if found and line.startswith(b"Anonymous:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def _write(descriptor: int, offset: int, tensor: torch.Tensor) -> None:
    plain = in_a_row(tensor.detach().cpu())
    view = memoryview(plain.view(torch.uint8).numpy().data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
