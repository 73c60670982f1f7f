"""The memory of another process, read from outside while that stands still.

No word of the process is needed for what lies there; only where it is to be looked for is told, and who tells
another place is judged by what lies there.

Covered: outputs with strides. Not covered: who stops the process, and for how long (`workers`).
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Sequence
from math import prod

import numpy as np

from cuda_gym.judge.sandbox.freezing import pid_of
from cuda_gym.judge.sandbox.messages import WIDEST, RegionSpec, TensorSpec
from cuda_gym.judge.sandbox.run_claims import impossible

__all__ = ["OutsideMemory"]

_PIECE = 4 << 20


class OutsideMemory:
    """Of one process.

    Args:
        descriptor: Of its memory; owned.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._room: tuple[RegionSpec, mmap.mmap] | None = None
        """The latest region that was read into, and where it is mapped."""

    @classmethod
    def of(cls, pidfd: int) -> OutsideMemory | None:
        """Of a process that nothing of a submission was in yet; None where the kernel does not let us."""
        try:
            return cls(os.open(f"/proc/{pid_of(pidfd)}/mem", os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return None

    def read_outputs(
        self,
        places: Sequence[Sequence[int]],
        specs: Sequence[TensorSpec],
        region: RegionSpec,
        descriptor: int,
    ) -> None:
        """Copy outputs to where they are due.

        Args:
            places: Of each the address, then the strides in elements; nothing of one without elements.
            specs: Of each what it is, and where in the region it is due.
            region: Of outputs.
            descriptor: Of the region; the caller's.

        Raises:
            CandidateError: there is no such memory.
        """
        if len(places) != len(specs):
            raise impossible(f"{len(places)} outputs where {len(specs)} are due")
        room = memoryview(self._mapped(region, descriptor))
        for place, spec in zip(places, specs, strict=True):
            if prod(spec.shape):
                self._read_output(place, spec, room)

    def close(self) -> None:
        """Look no more."""
        self._room = None
        os.close(self._descriptor)

    def _mapped(self, region: RegionSpec, descriptor: int) -> mmap.mmap:
        if self._room is None or self._room[0] != region:
            self._room = region, mmap.mmap(descriptor, region.num_bytes)
        return self._room[1]

    def _read_output(self, place: Sequence[int], spec: TensorSpec, room: memoryview) -> None:
        size, (address, *strides) = _item_bytes(spec.dtype), place or (-1,)
        num_bytes = prod(spec.shape) * size
        target = room[spec.offset : spec.offset + num_bytes]
        if len(strides) != len(spec.shape) or min((address, *strides)) < 0:
            raise impossible(f"an output of shape {spec.shape} at {tuple(place)}")
        steps = [(n, step) for n, step in zip(spec.shape, strides, strict=True) if n > 1]
        if _is_in_a_row(steps):
            self._read(address, target)
            return
        span = 1 + sum((n - 1) * step for n, step in steps)
        if span > WIDEST * prod(spec.shape):
            raise impossible(f"an output of {num_bytes} bytes that spans {span * size}")
        whole = bytearray(span * size)
        self._read(address, memoryview(whole))
        item = np.dtype(f"V{size}")
        given = np.ndarray(spec.shape, item, whole, strides=[step * size for step in strides])
        np.ndarray(spec.shape, item, target)[...] = given

    def _read(self, address: int, target: memoryview) -> None:
        try:
            while target:
                done = os.preadv(self._descriptor, [target[:_PIECE]], address)
                if not done:
                    raise impossible(f"an output at {address:#x}, where it has no memory")
                target, address = target[done:], address + done
        except (OSError, OverflowError):
            raise impossible(f"an output at {address:#x}, where it has no memory") from None


def _is_in_a_row(steps: Sequence[tuple[int, int]]) -> bool:
    """Whether elements lie one beside the other, in their order.

    Args:
        steps: The dimensions of more than one element, and their strides.

    >>> _is_in_a_row([(2, 3), (3, 1)]), _is_in_a_row([(2, 1), (3, 2)])
    (True, False)
    """
    due = 1
    for n, step in reversed(steps):
        if step != due:
            return False
        due *= n
    return True


def _item_bytes(dtype: str) -> int:
    """Of an element.

    >>> [_item_bytes(name) for name in ("bool", "int8", "bfloat16", "float8_e4m3fn", "complex64")]
    [1, 1, 2, 1, 8]
    """
    bits = re.search(r"\d+", dtype)
    return max(1, int(bits[0]) // 8) if bits else 1
