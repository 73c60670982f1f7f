"""The judge's own kernels in one process: machine code that the driver has taken, launched on torch's current stream.

Covered: each kernel is loaded with its module, before anything is held: nothing is left to be loaded behind a
gate. Not covered: compiling them (`toolchains/own_kernels`), and what they are for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from cuda_gym.judge.toolchains.cuda_driver import load_driver

__all__ = ["POINTER", "WORD", "CudaKernels"]

POINTER, WORD = ctypes.c_void_p, ctypes.c_uint64


class CudaKernels:
    """Some of them on one GPU.

    Args:
        cubin: Their machine code.
        device: The GPU, of which this process has a context.
        arguments: The types of each one's arguments, by its name.

    Raises:
        DriverCallFailed: the driver does not take it.
    """

    def __init__(
        self, cubin: Path, device: torch.device, arguments: Mapping[str, tuple[Any, ...]]
    ) -> None:
        self.driver = load_driver()
        self._index = device.index or 0
        self.driver.use_context(self._index)
        module = self.driver.pointer("cuModuleLoadData", cubin.read_bytes())
        self._arguments = arguments
        self._functions = {name: self._function(module, name) for name in arguments}
        processors = torch.cuda.get_device_properties(device).multi_processor_count
        self.most_blocks = _BLOCKS_A_MULTIPROCESSOR * int(processors)
        """As many as make sense at once."""
        self._raw_stream: Any = torch._C._cuda_getCurrentRawStream

    def launch(self, name: str, blocks: int, threads: int, *arguments: int) -> None:
        """Give one to the current stream.

        Args:
            name: Which.
            blocks: Of its grid.
            threads: Of each.
            arguments: Addresses and numbers.
        """
        slots = [t(value) for t, value in zip(self._arguments[name], arguments, strict=True)]
        places = (ctypes.c_void_p * len(slots))(*map(ctypes.addressof, slots))
        grid_and_block = (blocks, 1, 1, threads, 1, 1)
        function = self._functions[name]
        self.driver.call("cuLaunchKernel", function, *grid_and_block, 0, self.stream, places, None)

    @property
    def stream(self) -> int:
        """That torch gives its work to."""
        return int(self._raw_stream(self._index))

    def _function(self, module: int, name: str) -> int:
        function = self.driver.pointer("cuModuleGetFunction", module, name.encode())
        self.driver.number("cuFuncGetAttribute", _SHARED_BYTES, function)
        return function


_BLOCKS_A_MULTIPROCESSOR = 8
_SHARED_BYTES = 1
"""An attribute of a function, in the driver's numbers: to ask for it loads the function."""
