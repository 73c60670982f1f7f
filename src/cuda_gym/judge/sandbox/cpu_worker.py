"""The `cpu` device in a worker process: sealed memfds, the wall clock, copies by memmove and NumPy."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from cuda_gym.judge.profiling.telemetry import cpu_name, last_level_cache_bytes
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import (
    RegionSpec,
    TensorSpec,
)
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.worker_device import TimedCalls

__all__ = ["CpuWorkerDevice"]

Kept = TypeVar("Kept")

_MAX_CACHE_BYTES = 64 << 20
_SPARE_BYTES = 1 << 30


class CpuWorkerDevice:
    """The processor of this machine; see `WorkerDevice`."""

    torch_device = torch.device("cpu")
    alignment = 64
    keeps_originals = False
    outputs_stay = True
    sealing = None
    comparing = None

    def __init__(self) -> None:
        self._evicting: torch.Tensor | None = None
        self._writes_to_inputs: bool | None = None
        """Whether a call in this process did so, whatever it wrote; None before anybody looked."""

    @property
    def name(self) -> str:
        """The processor."""
        return cpu_name()

    def give_memory_back(self, *, most_kept: int = 0) -> None:
        """Nothing to do: what is freed, is free."""

    def total_bytes(self) -> int | None:
        """Nobody counts: a submission's process has a limit of its own."""
        return None

    def spare_bytes(self) -> int:
        """What may be taken for things that are made ahead."""
        return _SPARE_BYTES

    def create_inputs(
        self,
        num_bytes: int,
        parts: Iterable[tuple[TensorSpec, torch.Tensor]],
        earlier: Region | None = None,
    ) -> MemfdRegion:
        """A region that holds these tensors, sealed for all others; an earlier one of the same size is written over."""
        if isinstance(earlier, MemfdRegion) and earlier.write_again(num_bytes, parts):
            return earlier
        return MemfdRegion.create_inputs(num_bytes, parts)

    def create_outputs(self, num_bytes: int) -> MemfdRegion:
        """A region that somebody else will write to."""
        return MemfdRegion.create_outputs(num_bytes)

    def open_region(self, spec: RegionSpec, descriptor: int, *, is_output: bool) -> MemfdRegion:  # noqa: ARG002
        """What the reference has made: inputs are mapped privately."""
        return MemfdRegion.open(descriptor, shared=is_output)

    def publish(self, region: Region) -> None:
        """Nothing to do: it is the same memory."""

    def original(self, region: Region) -> Region | None:
        """The inputs as they were, where this process has changed its private copy of them."""
        assert isinstance(region, MemfdRegion)
        if self._writes_to_inputs is None:
            self._writes_to_inputs = region.has_own_pages()
        return region.original()

    def forget_writes(self, region: Region, *, is_timed: bool) -> None:
        """See the reference's inputs again, where this process may have pages of its own.

        That takes 0.1 ms a megabyte. Under the clock only those pay it who wrote to inputs before.
        """
        if self._writes_to_inputs or not is_timed:
            assert isinstance(region, MemfdRegion)
            region.forget_writes()

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Copy between tensors of one form."""
        if target.is_contiguous() and source.is_contiguous():
            num_bytes = source.numel() * source.element_size()
            ctypes.memmove(target.data_ptr(), source.data_ptr(), num_bytes)
        else:
            _as_array(target)[...] = _as_array(source)

    def scratch(self, like: torch.Tensor) -> torch.Tensor:
        """A private tensor of this form, allocated as a submission allocates."""
        return torch.empty(like.shape, dtype=like.dtype)

    def fill(self, tensor: torch.Tensor, value: int) -> None:
        """Write every byte of a tensor."""
        _as_array(tensor).fill(value)

    def timed_calls(
        self,
        call: Callable[[Any], Any],
        calls: Sequence[Any],
        *,
        keep: Callable[[int, Any], Kept],
        gate_ns: int,  # noqa: ARG002 - the host is the device
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> TimedCalls[Kept]:
        """Call once for each entry, by the wall clock."""
        durations: list[int] = []
        kept: list[Kept] = []
        gc.disable()
        try:
            with torch.no_grad():
                for number, arguments in enumerate(calls):
                    start = clock()
                    value = call(arguments)
                    durations.append(clock() - start)
                    kept.append(keep(number, value))
                    del value  # its memory is the next call's
        finally:
            gc.enable()
        times = tuple(durations)
        return TimedCalls(call_ns=times, host_ns=times, num_ungated=0, kept=kept)

    def synchronise(self) -> None:
        """Nothing to do: a call that has returned is done."""

    def evict_caches(self, streamed_bytes: int = 0) -> None:
        """Write twice the last-level cache, unless the contents do so by themselves."""
        num_bytes = 2 * min(last_level_cache_bytes(), _MAX_CACHE_BYTES)
        if streamed_bytes >= num_bytes:
            return
        if self._evicting is None:
            self._evicting = torch.zeros(num_bytes // 4)
        self._evicting.add_(1.0)


def _as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """The tensor's memory as a numpy array; bfloat16, which numpy lacks, as 16-bit integers."""
    plain = tensor.detach()
    return (plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain).numpy()
