"""The kernels of `sealing.cu` in one process: sealed inputs, a gate that a page opens, and sums of outputs.

Everything is given to the current stream of torch, as a submission's own work is.

Covered: the module is loaded, and each kernel with it, before anything is held: nothing is left to be loaded
behind a gate. Not covered: compiling it (`toolchains/own_kernels`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch

from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.sealed_page import SealedPage
from cuda_gym.judge.toolchains.cuda_driver import load_driver

__all__ = ["CudaSealing", "Room"]

_MOST_HELD_CYCLES = 30_000_000_000
"""A gate that nobody opens ends by itself."""
_THREADS = 256
_BLOCKS_A_MULTIPROCESSOR = 8
_SHARED_BYTES = 1
"""An attribute of a function, in the driver's numbers: to ask for it loads the function."""
_DEVICE_MAPPED = 2
_WORD = 8
_PAIR = 2 * _WORD


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
    """What holds, seals and sums up on one GPU.

    Args:
        cubin: Machine code of `sealing.cu`.
        device: The GPU, of which this process has a context.

    Raises:
        DriverCallFailed: the driver does not take it.
    """

    def __init__(self, cubin: Path, device: torch.device) -> None:
        self._driver = load_driver()
        self._driver.use_context(device.index or 0)
        self._index = device.index or 0
        module = self._driver.pointer("cuModuleLoadData", cubin.read_bytes())
        self._functions = {name: self._function(module, name) for name in _ARGUMENTS}
        self._state = torch.zeros(2, dtype=torch.int64, device=device)
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        self._most_blocks = _BLOCKS_A_MULTIPROCESSOR * int(processors)
        self._raw_stream: Any = torch._C._cuda_getCurrentRawStream

    @contextmanager
    def held(
        self, page: SealedPage, inputs: Room, outputs: Room
    ) -> Iterator[AbstractContextManager[None]]:
        """The gate of a block; what is given to the device inside of the context that this gives, waits for it.

        Args:
            page: Opens the gate; closed in the end.
            inputs: Are opened behind it.
            outputs: Are summed up when all is done.

        Raises:
            DriverCallFailed: the driver cannot map the page.
        """
        self._driver.call("cuMemHostRegister_v2", page.address, page.num_bytes, _DEVICE_MAPPED)
        try:
            pinned = self._driver.pointer("cuMemHostGetDevicePointer_v2", page.address, 0)
            yield self._queueing(page, pinned, inputs, outputs)
        finally:
            page.say_queued()  # in vain, but where a call has failed: the gate must open
            self._driver["cuCtxSynchronize"]()
            self._driver["cuMemHostUnregister"](page.address)
            page.close()

    def sealed(
        self, parts: Iterable[tuple[TensorSpec, torch.Tensor]], key: int
    ) -> Iterator[tuple[TensorSpec, torch.Tensor]]:
        """The parts of a region as they are to lie there until `key` opens them."""
        state = torch.tensor([_signed(key), 0], device=self._state.device)
        for spec, tensor in parts:
            assert spec.offset % _PAIR == 0
            num_bytes = tensor.numel() * tensor.element_size()
            words = torch.zeros(-(-num_bytes // _WORD), dtype=torch.int64, device=state.device)
            part = words.view(torch.uint8)[:num_bytes].view(tensor.dtype).view(tensor.shape)
            part.copy_(tensor)
            address, first = words.data_ptr(), spec.offset // _PAIR
            self._seal(address, words.numel(), state.data_ptr(), first=first)
            yield spec, part

    def sum_of(self, words: torch.Tensor) -> int:
        """The sum of a region, now.

        Args:
            words: uint8 on the device, contiguous.
        """
        state = torch.zeros(2, dtype=torch.int64, device=words.device)
        self._sum_up(words.data_ptr(), words.numel(), state)
        return int(state[1].item()) % (1 << 64)

    @contextmanager
    def _queueing(
        self, page: SealedPage, pinned: int, inputs: Room, outputs: Room
    ) -> Iterator[None]:
        state = self._state.data_ptr()
        self._launch("hold", 1, 1, pinned, state, _MOST_HELD_CYCLES)
        self._seal(inputs.address, inputs.num_bytes // _WORD, state, first=0)
        yield
        self._sum_up(outputs.address, outputs.num_bytes, self._state)
        self._launch("tell", 1, 1, pinned, state)
        page.say_queued()

    def _sum_up(self, address: int, num_bytes: int, state: torch.Tensor) -> None:
        count = num_bytes // _WORD
        self._launch("sum_up", self._blocks(count), _THREADS, address, count, state.data_ptr())

    def _seal(self, address: int, count: int, state: int, *, first: int) -> None:
        self._launch("seal", self._blocks(count // 2), _THREADS, address, count, state, first)

    def _blocks(self, count: int) -> int:
        return max(1, min(self._most_blocks, -(-count // _THREADS)))

    def _function(self, module: int, name: str) -> int:
        function = self._driver.pointer("cuModuleGetFunction", module, name.encode())
        self._driver.number("cuFuncGetAttribute", _SHARED_BYTES, function)
        return function

    def _launch(self, name: str, blocks: int, threads: int, *arguments: int) -> None:
        slots = [type_(value) for type_, value in zip(_ARGUMENTS[name], arguments, strict=True)]
        places = (ctypes.c_void_p * len(slots))(*map(ctypes.addressof, slots))
        grid_and_block = (blocks, 1, 1, threads, 1, 1)
        stream = int(self._raw_stream(self._index))
        function = self._functions[name]
        self._driver.call("cuLaunchKernel", function, *grid_and_block, 0, stream, places, None)


_pointer, _word = ctypes.c_void_p, ctypes.c_uint64
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "hold": (_pointer, _pointer, _word),
    "seal": (_pointer, _word, _pointer, _word),
    "sum_up": (_pointer, _word, _pointer),
    "tell": (_pointer, _pointer),
}


def _signed(word: int) -> int:
    """A word of 64 bits as torch keeps it.

    >>> _signed((1 << 64) - 1)
    -1
    """
    return word - (1 << 64) if word >= 1 << 63 else word
