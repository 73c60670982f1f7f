"""The memory check inside a candidate process: what kernels may reach, and what they must write.

    note              a tensor that a launcher is given is memory that kernels may reach
    require_written   every byte of an output was written by a kernel, not by the host

From the start what `torch.empty` and its relatives give out holds a pattern that stands for "never
written"; they are wrapped by name, since a dispatch mode would import torch's compiler: a second.

Covered: launchers of a checking build. Not covered: a submission that wants to deceive; it shares the
process, so that clean findings are a claim.
"""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.verification.nests import tensors_in

__all__ = ["MemoryCheck"]

_POISON = 0xFFF5
"""As in runtime_library/checks.h: a NaN in every floating type, far outside any index."""
_FRESH = (
    (torch, ("empty", "empty_like", "empty_strided")),
    (torch.Tensor, ("new_empty", "new_empty_strided")),
)


class MemoryCheck:
    """What the runtime of a checking build is told, and what it has found."""

    def __init__(self, runtime: Runtime, *, most_blocks: int) -> None:
        self._runtime = runtime
        self._own: list[str] = []
        runtime.check_blocks(most_blocks)
        for owner, names in _FRESH:
            for name in names:
                setattr(owner, name, _filling(getattr(owner, name)))

    def note(self, name: str, tensor: torch.Tensor) -> None:
        """Let kernels reach a tensor, with all of the storage that it is a part of."""
        storage = tensor.untyped_storage()
        if storage.nbytes():
            self._runtime.check_memory(storage.data_ptr(), storage.nbytes(), name)

    def require_written(self, outputs: Any, library_calls: int) -> None:
        """Note the outputs that kernels have not written all of, where kernels are all there is."""
        if library_calls:
            return
        for number, tensor in enumerate(tensors_in(outputs)):
            num_bytes = tensor.numel() * tensor.element_size()
            storage = tensor.untyped_storage()
            # A view with gaps: what lies between its elements need not be written.
            is_dense = tensor.is_contiguous() or storage.nbytes() == num_bytes
            if not num_bytes or not is_dense:
                continue
            start = tensor.data_ptr() if tensor.is_contiguous() else storage.data_ptr()
            missing = self._runtime.unwritten_bytes(start, num_bytes)
            if missing:
                self._own.append(_unwritten(number, missing, num_bytes))

    def findings(self) -> str:
        """All that was found, a line of JSON each."""
        return self._runtime.findings() + "".join(self._own)


def _filling(allocate: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """An allocation whose memory holds the pattern."""

    @functools.wraps(allocate)
    def allocate_filled(*arguments: Any, **options: Any) -> torch.Tensor:
        tensor = allocate(*arguments, **options)
        storage = tensor.untyped_storage()
        count = storage.nbytes() // 2
        if tensor.device.type == "cpu" and count:
            cells = (ctypes.c_uint16 * count).from_address(storage.data_ptr())
            np.ctypeslib.as_array(cells).fill(_POISON)
        return tensor

    return allocate_filled


def _unwritten(number: int, missing: int, num_bytes: int) -> str:
    text = f"{missing:,} of the {num_bytes:,} bytes of output {number} were written by no kernel"
    plain = {"kind": "unwritten output", "text": text, "kernel": "", "parties": []}
    return json.dumps(plain) + "\n"
