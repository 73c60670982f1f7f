"""The memory check inside a candidate process: what kernels may reach, and what they must write.

    note              a tensor that a launcher is given is memory that kernels may reach
    fresh_memory      what `torch.empty` gives out holds a pattern that stands for "never written"
    require_written   every byte of an output was written by a kernel, not by the host

Covered: launchers of a checking build. Not covered: a submission that wants to deceive; it shares the
process, so that clean findings are a claim.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.verification.nests import tensors_in

__all__ = ["MemoryCheck"]

_POISON = 0xFFF5
"""As in runtime_library/checking/memory.h: a NaN in every floating type, far outside any index."""
_FRESH = frozenset(
    (
        torch.ops.aten.empty.memory_format,
        torch.ops.aten.empty_like.default,
        torch.ops.aten.empty_strided.default,
        torch.ops.aten.new_empty.default,
        torch.ops.aten.new_empty_strided.default,
    )
)


class MemoryCheck:
    """What the runtime of a checking build is told, and what it has found."""

    def __init__(self, runtime: Runtime, *, most_blocks: int) -> None:
        self._runtime = runtime
        self._own: list[str] = []
        runtime.check_blocks(most_blocks)

    def note(self, name: str, tensor: torch.Tensor) -> None:
        """Let kernels reach a tensor, with all of the storage that it is a part of."""
        storage = tensor.untyped_storage()
        if storage.nbytes():
            self._runtime.check_memory(storage.data_ptr(), storage.nbytes(), name)

    @contextlib.contextmanager
    def fresh_memory(self) -> Iterator[None]:
        """Fill what is allocated and not initialised."""
        with _FillFresh():  # type: ignore[no-untyped-call]
            yield

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


class _FillFresh(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Below Python's names for it: `torch.empty`, `Tensor.new_empty` and what calls them."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        value = func(*args, **(kwargs or {}))
        if func in _FRESH and value.device.type == "cpu":
            storage = value.untyped_storage()
            count = storage.nbytes() // 2
            if count:
                cells = (ctypes.c_uint16 * count).from_address(storage.data_ptr())
                np.ctypeslib.as_array(cells).fill(_POISON)
        return value


def _unwritten(number: int, missing: int, num_bytes: int) -> str:
    text = f"{missing:,} of the {num_bytes:,} bytes of output {number} were written by no kernel"
    plain = {"kind": "host access", "text": text, "kernel": "", "parties": []}
    return json.dumps(plain) + "\n"
