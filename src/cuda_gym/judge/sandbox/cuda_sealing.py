"""The kernels of `sealing.cu` in one process: sealed inputs, a gate that a page opens, a digest of outputs.

Everything is given to the current stream of torch, as a submission's own work is.

Covered: outputs wherever they lie. Not covered: how kernels are loaded and launched (`cuda_kernels`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch

from cuda_gym.judge.sandbox.cuda_kernels import POINTER, WORD, CudaKernels
from cuda_gym.judge.sandbox.device_faults import DeviceFault
from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.sealed_page import SealedPage

__all__ = ["CudaSealing", "Room"]


class Room(Protocol):
    """Memory of the device, as a region is."""

    @property
    def address(self) -> int:
        """Where it begins there; a multiple of 16."""
        ...

    @property
    def num_bytes(self) -> int:
        """What does not fill a word of 8 is left out."""
        ...


class CudaSealing:
    """What holds, seals and digests on one GPU.

    Args:
        cubin: Machine code of `sealing.cu`.
        device: The GPU, of which this process has a context.

    Raises:
        DriverCallFailed: the driver does not take it.
    """

    def __init__(self, cubin: Path, device: torch.device) -> None:
        self._device = device
        self._kernels = CudaKernels(cubin, device, _ARGUMENTS)
        self._driver = self._kernels.driver
        self._launch = self._kernels.launch
        self._state = torch.zeros(4, dtype=torch.int64, device=device)

    def run(
        self,
        page: SealedPage,
        inputs: Room,
        produce: Callable[[], Sequence[torch.Tensor]],
        sizes: Sequence[int],
        *,
        when_begun: Callable[[], None] = lambda: None,
        when_queued: Callable[[], None] = lambda: None,
    ) -> None:
        """Queue a block behind the gate of a page, and wait until the device is done with it.

        Args:
            page: Opens the gate; closed in the end.
            inputs: Are opened behind it.
            produce: Gives work to the device, and returns all outputs of it, contiguous, in their order.
            sizes: Of these, in bytes.
            when_begun: Called just before the first of it is.
            when_queued: Called as soon as all is queued.

        Raises:
            DeviceFault: the device failed.
            DriverCallFailed: the driver cannot map the page.
        """
        with self._pinned(page) as pinned:
            plan = self._plan(sizes)
            state, words = self._state.data_ptr(), inputs.num_bytes // _WORD
            # Twice with one key leaves all as it was. Where memory is new to a process its first touch is slow
            # (0.2 ms for 2 GB): that is no call's time, and done before our clock runs.
            for _ in range(2):
                self._seal(inputs.address, words, state, first=0)
            self._wait()
            page.say_begun()
            when_begun()
            self._launch("hold", 1, 1, pinned, state, _MOST_HELD_CYCLES)
            self._seal(inputs.address, words, state, first=0)
            outputs = produce()  # held until all is done
            entries = plan.table([tensor.data_ptr() for tensor in outputs])
            host, stream = page.write_table(entries), self._kernels.stream
            where = plan.places.data_ptr()
            self._driver.call("cuMemcpyHtoDAsync_v2", where, host, len(entries), stream)
            self._digest(plan, self._state)
            self._launch("tell", 1, 1, pinned, state)
            page.say_queued()
            when_queued()
            self._wait()

    def sealed(
        self, parts: Iterable[tuple[TensorSpec, torch.Tensor]], key: int
    ) -> Iterator[tuple[TensorSpec, torch.Tensor]]:
        """The parts of a region as they are to lie there until `key` opens them: bytes, which nobody takes for numbers."""
        state = torch.tensor([_signed(key)], device=self._device)
        for spec, tensor in parts:
            assert spec.offset % _PAIR == 0
            num_bytes = tensor.numel() * tensor.element_size()
            words = torch.empty(-(-num_bytes // _WORD), dtype=torch.int64, device=self._device)
            words[-1:].zero_()
            part = words.view(torch.uint8)[:num_bytes]
            part.view(tensor.dtype).view(tensor.shape).copy_(tensor)
            address, first = words.data_ptr(), spec.offset // _PAIR
            self._seal(address, words.numel(), state.data_ptr(), first=first)
            yield replace(spec, dtype="uint8", shape=(num_bytes,)), part

    def digest_of(self, tensors: Sequence[torch.Tensor]) -> int:
        """The digest of contiguous tensors of the device, now."""
        plan = self._plan([tensor.numel() * tensor.element_size() for tensor in tensors])
        entries = plan.table([tensor.data_ptr() for tensor in tensors])
        if entries:
            told = torch.frombuffer(bytearray(entries), dtype=torch.int64)
            plan.places[: len(told)].copy_(told)
        state = torch.zeros(4, dtype=torch.int64, device=self._device)
        self._digest(plan, state)
        low, high = (int(word) % (1 << 64) for word in state[_FOLDED:].tolist())
        return high << 64 | low

    @contextmanager
    def _pinned(self, page: SealedPage) -> Iterator[int]:
        """The page as the device sees it; however this ends, its gate is opened and all work behind it done."""
        try:
            self._driver.call("cuMemHostRegister_v2", page.address, page.num_bytes, _DEVICE_MAPPED)
            try:
                yield self._driver.pointer("cuMemHostGetDevicePointer_v2", page.address, 0)
            finally:
                page.say_queued()
                self._driver["cuCtxSynchronize"]()
                self._driver["cuMemHostUnregister"](page.address)
        finally:
            page.close()

    def _wait(self) -> None:
        if status := self._driver["cuCtxSynchronize"]():
            raise DeviceFault(self._driver.text(status))

    def _plan(self, sizes: Sequence[int]) -> _Plan:
        """Where what becomes of outputs of these sizes is kept; allocated before anything is held."""
        num_units = sum(-(-size // _UNIT_BYTES) for size in sizes)
        places, digests = (
            torch.empty(max(1, count), dtype=torch.int64, device=self._device)
            for count in (_ENTRY_WORDS * len(sizes), 2 * num_units)
        )
        return _Plan(sizes=tuple(sizes), num_units=num_units, places=places, digests=digests)

    def _digest(self, plan: _Plan, state: torch.Tensor) -> None:
        digests = plan.digests.data_ptr()
        if plan.num_units:
            blocks = min(self._kernels.most_blocks, plan.num_units)
            self._launch(
                "sum_up", blocks, _UNIT_THREADS,
                plan.places.data_ptr(), plan.num_outputs, plan.num_units, digests,
            )  # fmt: skip
        self._launch("fold", 1, _FOLD_THREADS, digests, plan.num_units, state.data_ptr())

    def _seal(self, address: int, count: int, state: int, *, first: int) -> None:
        blocks = max(1, min(self._kernels.most_blocks, -(-count // (2 * _SEAL_THREADS))))
        self._launch("seal", blocks, _SEAL_THREADS, address, count, state, first)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """How outputs are digested."""

    sizes: tuple[int, ...]
    """Of all outputs, in bytes."""
    num_units: int
    places: torch.Tensor
    """Room for a table of those that are not empty."""
    digests: torch.Tensor
    """Room for two words of each unit."""

    @property
    def num_outputs(self) -> int:
        """Of those that are not empty."""
        return sum(size > 0 for size in self.sizes)

    def table(self, addresses: Sequence[int]) -> bytes:
        """Address, size and first unit of each output that is not empty, as `sealing.cu` reads them."""
        told, unit = bytearray(), 0
        for address, size in zip(addresses, self.sizes, strict=True):
            if size:
                told += struct.pack("<3Q", address, size, unit)
                unit += -(-size // _UNIT_BYTES)
        return bytes(told)


_MOST_HELD_CYCLES = 30_000_000_000
"""A gate that nobody opens ends by itself."""
_SEAL_THREADS, _UNIT_THREADS, _FOLD_THREADS = 256, 256, 512
_UNIT_BYTES = 4096 * 16
_ENTRY_WORDS = 3
_FOLDED = 2
"""As in `sealing.cu`."""
_DEVICE_MAPPED = 2
_WORD = 8
_PAIR = 2 * _WORD
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "hold": (POINTER, POINTER, WORD),
    "seal": (POINTER, WORD, POINTER, WORD),
    "sum_up": (POINTER, WORD, WORD, POINTER),
    "fold": (POINTER, WORD, POINTER),
    "tell": (POINTER, POINTER),
}


def _signed(word: int) -> int:
    """A word of 64 bits as torch keeps it.

    >>> _signed((1 << 64) - 1)
    -1
    """
    return word - (1 << 64) if word >= 1 << 63 else word
