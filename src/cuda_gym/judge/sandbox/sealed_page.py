"""A page of the host by which a block of calls is held, let go, and heard of when it is over.

    the reference   seals the inputs with a key, lets the block go by writing the key, and waits for the digest
    the candidate   says that it begins; queues everything behind the gate: open the inputs, all calls, a digest
                    of the outputs
    the judge       says that it is over where a candidate failed

So what the reference's clock shows from the key to the digest is time in which all the work was done: nobody
can read the inputs before, and a digest of outputs that are not there cannot be told. The host takes no
part in it: neither a slow one nor a false clock changes anything.

Covered: a candidate that never queues anything (the gate is opened after a while), one that fails,
one that tells a wrong digest. Not covered: who launches what (`cuda_sealing`).
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["SealedPage", "Witnessed", "check_of", "end_sealed", "mixed", "new_key"]

_KEY, _KEY_CHECK, _STATE, _SUM, _SUM_CHECK = (8 * place for place in (0, 1, 8, 16, 18))
"""As in `sealing.cu`."""
_TABLE = 4096
_TABLE_ENTRY = 24
_NOTHING, _QUEUED, _OVER, _BEGUN = range(4)
"""What the host says of a block."""
_BEGIN_S = 1.0
"""Memory is mapped and touched for the first time meanwhile, which waits where a driver makes contexts for others."""
_MASK = (1 << 64) - 1
_F_ADD_SEALS, _F_SEAL_SEAL, _F_SEAL_SHRINK, _F_SEAL_GROW = 1033, 1, 2, 4


@dataclass(frozen=True, kw_only=True)
class Witnessed:
    """One block as the reference's clock saw it."""

    wall_us: float
    """From the key to the digest."""
    was_queued: bool
    """Whether all of it had been given to the device before the key was written: then the host had no
    part in it."""
    digest: int | None
    """Told of the outputs, 128 bits; None where none was."""


class SealedPage:
    """The page in one process; owns its descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.num_bytes = os.fstat(descriptor).st_size
        """Of all of it."""
        self._mapped = mmap.mmap(descriptor, self.num_bytes)
        self._state = ctypes.c_uint32.from_buffer(self._mapped, _STATE)

    @classmethod
    def create(cls, *, num_outputs: int) -> SealedPage:
        """An empty one, of a size that nobody can change.

        Args:
            num_outputs: Of all calls of the block: so many places it can hold.
        """
        descriptor = os.memfd_create("gate", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        table = -(-num_outputs * _TABLE_ENTRY // mmap.PAGESIZE) * mmap.PAGESIZE
        os.ftruncate(descriptor, _TABLE + table)
        fcntl.fcntl(descriptor, _F_ADD_SEALS, _F_SEAL_SHRINK | _F_SEAL_GROW | _F_SEAL_SEAL)
        return cls(descriptor)

    @classmethod
    def open(cls, descriptor: int) -> SealedPage:
        """What somebody else has made; the descriptor stays the caller's."""
        return cls(os.dup(descriptor))

    @property
    def address(self) -> int:
        """Where it lies in this process."""
        return ctypes.addressof(self._state) - _STATE

    def export(self) -> int:
        """A descriptor for somebody else; the caller owns it."""
        return os.dup(self._descriptor)

    def write_table(self, table: bytes) -> int:
        """Write down where outputs are; the place of that in this process."""
        self._mapped[_TABLE : _TABLE + len(table)] = table
        return self.address + _TABLE

    def say_begun(self) -> None:
        """What takes long on a machine that others use is done: from now on the block is given to the device."""
        self._state.value = _BEGUN

    def say_queued(self) -> None:
        """All of the block has been given to the device."""
        self._state.value = _QUEUED

    def witness(
        self, key: int, *, queue_s: float, most_s: float, begin_s: float = _BEGIN_S
    ) -> Witnessed:
        """Open the gate as soon as the block is queued, and wait until it is over.

        Args:
            key: That the inputs are sealed with.
            queue_s: How long the block may take to be queued; then the gate opens all the same.
            most_s: How long the rest may take.
            begin_s: How long it may take until it begins to be queued; then likewise.
        """
        self._wait_while({_NOTHING}, begin_s)
        self._wait_while({_NOTHING, _BEGUN}, queue_s)
        was_queued = self._state.value == _QUEUED
        return self.wait(self.open_gate(key), was_queued=was_queued, most_s=most_s)

    def open_gate(self, key: int) -> int:
        """Write the key; the time just before, in nanoseconds of `time.perf_counter_ns`."""
        words = key.to_bytes(8, "little"), check_of(key).to_bytes(8, "little")
        start_ns = time.perf_counter_ns()
        self._mapped[_KEY : _KEY + 8] = words[0]
        self._mapped[_KEY_CHECK : _KEY_CHECK + 8] = words[1]
        return start_ns

    def wait(self, start_ns: int, *, was_queued: bool, most_s: float) -> Witnessed:
        """Wait until the digest is there, or the block is over without one.

        Args:
            start_ns: When the gate was opened.
            was_queued: Whether the block was queued then.
            most_s: How long to wait at most.
        """
        page, state, clock = self._mapped, self._state, time.perf_counter_ns
        last = start_ns + round(most_s * 1e9)
        told = ctypes.c_uint64.from_buffer(page, _SUM_CHECK)
        while not told.value and clock() < last and state.value != _OVER:
            pass
        del told
        digest = self._digest()  # first: what is written later is none of it
        wall_us = (clock() - start_ns) / 1000.0
        return Witnessed(wall_us=wall_us, was_queued=was_queued, digest=digest)

    def close(self) -> None:
        """Give it back; safe to call twice."""
        if self._descriptor >= 0:
            del self._state
            self._mapped.close()
            os.close(self._descriptor)
            self._descriptor = -1

    def _wait_while(self, states: Collection[int], most_s: float) -> None:
        """Until the host says something else of the block."""
        until = time.perf_counter() + most_s
        while self._state.value in states and time.perf_counter() < until:
            time.sleep(_NAP_S)

    def _digest(self) -> int | None:
        low, high, check = (
            int.from_bytes(self._mapped[place : place + 8], "little")
            for place in (_SUM, _SUM + 8, _SUM_CHECK)
        )
        return high << 64 | low if check == check_of(low ^ mixed(high)) else None


_NAP_S = 20e-6


def end_sealed(descriptor: int) -> None:
    """Say that a block is over, whatever came of it: nobody need wait any longer."""
    os.pwrite(descriptor, _OVER.to_bytes(4, "little"), _STATE)


def new_key() -> int:
    """A secret."""
    return secrets.randbits(64)


def check_of(value: int) -> int:
    """What stands beside a word that was written whole, as in `sealing.cu`.

    >>> hex(check_of(0))
    '0x1'
    """
    return mixed(value) | 1


def mixed(value: int) -> int:
    """Another word, of which every bit depends on every bit."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
