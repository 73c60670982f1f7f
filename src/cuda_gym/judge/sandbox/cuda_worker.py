"""A GPU in a worker process: exported allocations, events behind a gate, copies by the driver.

A pair of events around a call measures the host for anything below 100 us (gpu_timers.md). So a *gate*, a
kernel that only waits, goes first: while it waits the host hands over the whole call, and the
device then runs it without a gap. The gate opens by itself, so that a call that synchronises inside waits and
goes on; it is counted then, for its times are the host's.

Covered: L2 flushed before each call, with twice its size, and lines that were asked to stay there; what an
empty pair of events takes is subtracted; faults of the device in words. Not covered: work on streams that the
current stream does not wait for; the judge's own clock sees that.
"""

from __future__ import annotations

import functools
import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from cuda_gym.judge.profiling.memory_budget import AHEAD_BYTES
from cuda_gym.judge.sandbox.cuda_comparing import CudaComparing
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion, is_supported
from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing
from cuda_gym.judge.sandbox.device_faults import DeviceFault, fault_in
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import (
    RegionSpec,
    TensorSpec,
)
from cuda_gym.judge.sandbox.persisting_lines import PersistingLines
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.staged_regions import ReturnedRegion, StagedRegion
from cuda_gym.judge.sandbox.worker_device import TimedCalls

__all__ = ["CudaWorkerDevice"]

Kept = TypeVar("Kept")

_EMPTY_PAIRS = 9
_EMPTY_GATE_NS = 50_000
_SHORTEST_FLUSH = 8 << 20
"""Bytes, where the device does not say how large its L2 is."""

# Bound here: a submission may put its own in their places later.
_cuda: Any = torch.cuda
_Event: Any = torch.cuda.Event
_record, _elapsed, _query = _Event.record, _Event.elapsed_time, _Event.query
_sleep = _cuda._sleep
_synchronise = _cuda.synchronize


class CudaWorkerDevice:
    """One GPU; see `WorkerDevice`."""

    alignment = 512
    outputs_stay = False
    keeps_originals = True

    def __init__(self, index: int, *, own_kernels: str = "") -> None:
        self.torch_device = torch.device("cuda", index)
        self._index = index
        _cuda.set_device(index)
        self._copy_kernel = _copy_kernel()
        properties = _cuda.get_device_properties(index)
        self.name = str(properties.name)
        l2_bytes = int(getattr(properties, "L2_cache_size", 0))
        num_bytes = max(2 * l2_bytes, _SHORTEST_FLUSH)
        self._flushing = torch.zeros(num_bytes, dtype=torch.uint8, device=self.torch_device)
        clock_khz = getattr(properties, "clock_rate", 0) or 2_000_000
        self._cycles_per_ns = clock_khz / 1e6
        self._exports = is_supported(index)
        self._empty_ns: int | None = None
        self._own_kernels = own_kernels
        self.sealing = CudaSealing(Path(own_kernels), self.torch_device) if own_kernels else None
        self._lines = PersistingLines()
        self._events: list[tuple[Any, Any]] = []
        """Used again: to make one takes longer than to record it."""
        _synchronise()

    @functools.cached_property
    def comparing(self) -> CudaComparing | None:
        """Only a reference compares."""
        own_kernels = self._own_kernels
        return CudaComparing(Path(own_kernels), self.torch_device) if own_kernels else None

    def give_memory_back(self, *, most_kept: int = 0) -> None:
        """Empty torch's cache of freed memory, where that is larger or more than half of the card is taken."""
        free, total = _cuda.mem_get_info(self._index)
        unused = _cuda.memory_reserved(self._index) - _cuda.memory_allocated(self._index)
        if unused > most_kept or free < total // 2:
            _cuda.empty_cache()

    def total_bytes(self) -> int:
        """Memory of the card, or of this slice of it."""
        return int(_cuda.mem_get_info(self._index)[1])

    def spare_bytes(self) -> int:
        """A quarter of what is free now, and never more than belongs to a judgement."""
        free, _ = _cuda.mem_get_info(self._index)
        return min(AHEAD_BYTES, int(free) // 4)

    def create_inputs(
        self,
        num_bytes: int,
        parts: Iterable[tuple[TensorSpec, torch.Tensor]],
        earlier: Region | None = None,
    ) -> Region:
        """A region that holds these tensors; an earlier one that is large enough is written over."""
        if not self._exports:
            return MemfdRegion.create_inputs(num_bytes, parts)
        region = (
            earlier
            if isinstance(earlier, CudaRegion) and earlier.num_bytes >= num_bytes
            else CudaRegion.create(num_bytes, self._index)
        )
        for spec, tensor in parts:
            region.tensor(spec).copy_(tensor)
        self.synchronise()
        return region

    def create_outputs(self, num_bytes: int) -> Region:
        """A region that somebody else will write to; zero."""
        if not self._exports:
            return ReturnedRegion(MemfdRegion.create_outputs(num_bytes), self.torch_device)
        region = CudaRegion.create(num_bytes, self._index)
        region.flat().zero_()
        self.synchronise()
        return region

    def open_region(self, spec: RegionSpec, descriptor: int, *, is_output: bool) -> Region:
        """What the reference has made."""
        if not self._exports:
            return StagedRegion.open(descriptor, self, is_output=is_output)
        return CudaRegion.open(descriptor, spec.num_bytes, self._index)

    def publish(self, region: Region) -> None:
        """Let the owner of an opened output region see what was written there."""
        if isinstance(region, StagedRegion):
            region.publish()

    def original(self, region: Region) -> Region | None:
        """What was copied to the device; None of exported memory, at which the reference looks itself."""
        return region.original() if isinstance(region, StagedRegion) else None

    def forget_writes(self, region: Region, *, is_timed: bool) -> None:
        """Nothing to do: what was written to exported memory, the reference sees, and writes over."""

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Copy between tensors of one form, in the order of the current stream."""
        self._copy_kernel(target, source)

    def scratch(self, like: torch.Tensor) -> torch.Tensor:
        """A private tensor of this form; not written to, for a copy into it may be timed."""
        return torch.empty(like.shape, dtype=like.dtype, device=self.torch_device)

    def fill(self, tensor: torch.Tensor, value: int) -> None:  # noqa: ARG002 - any value takes as long
        """Write every byte of a tensor."""
        tensor.zero_()

    def timed_calls(
        self,
        call: Callable[[Any], Any],
        calls: Sequence[Any],
        *,
        keep: Callable[[int, Any], Kept],
        gate_ns: int,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> TimedCalls[Kept]:
        """Call once for each entry, each between two events behind a gate."""
        empty_ns = self._empty_pair_ns()
        while len(self._events) < len(calls):
            self._events.append((_new_event(), _new_event()))
        pairs = self._events[: len(calls)]
        self._lines.end()
        ends_lines = self._lines.can_be_made()
        host_ns: list[int] = []
        kept: list[Kept] = []
        num_ungated = 0
        cycles = int(gate_ns * self._cycles_per_ns)
        gc.disable()
        try:
            with torch.no_grad():
                for number, (arguments, (start, end)) in enumerate(zip(calls, pairs, strict=True)):
                    self._flush(ends_lines)
                    if cycles:
                        _sleep(cycles)
                    _record(start)
                    began = clock()
                    value = call(arguments)
                    host_ns.append(clock() - began)
                    num_ungated += bool(cycles) and _query(start)
                    _record(end)
                    kept.append(keep(number, value))
                    del value  # its memory is the next call's
            self.synchronise()
        finally:
            gc.enable()
        call_ns = (round(_elapsed(start, end) * 1e6) - empty_ns for start, end in pairs)
        return TimedCalls(
            call_ns=tuple(max(1, ns) for ns in call_ns),
            host_ns=tuple(host_ns),
            num_ungated=num_ungated,
            kept=kept,
        )

    def synchronise(self) -> None:
        """Wait until the device has done all that it was given.

        Raises:
            DeviceFault: some of that failed.
            RuntimeError: it cannot be waited for just now, as while a stream is captured.
        """
        try:
            _synchronise()
        except RuntimeError as error:
            if (fault := fault_in(error)) is None:
                raise
            raise DeviceFault(fault) from None

    def evict_caches(self, streamed_bytes: int = 0) -> None:
        """Nothing to do: every timed call has its own flush."""

    def _flush(self, ends_lines: bool) -> None:
        if ends_lines:
            self._lines.end()
        self._flushing.zero_()

    def _empty_pair_ns(self) -> int:
        """What two events with nothing between them show, measured once."""
        if self._empty_ns is None:
            pairs = [(_new_event(), _new_event()) for _ in range(_EMPTY_PAIRS)]
            for start, end in pairs:
                _sleep(int(_EMPTY_GATE_NS * self._cycles_per_ns))
                _record(start)
                _record(end)
            self.synchronise()
            self._empty_ns = round(statistics.median(_elapsed(s, e) for s, e in pairs) * 1e6)
        return self._empty_ns


def _new_event() -> Any:
    return _Event(enable_timing=True)


def _copy_kernel() -> Callable[[torch.Tensor, torch.Tensor], object]:
    """Torch's own kernel for copies on a GPU, called past the table of operators."""
    call_boxed = torch.library.get_kernel("aten::copy_", "CUDA").call_boxed
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
    return lambda target, source: call_boxed(keys, target, source)
