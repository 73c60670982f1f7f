"""What a worker process does differently on each kind of device. One class a kind, beside this file.

    regions       memory shared with the process on the other side
    copies        that need no operator of torch: in a candidate all of them refuse
    timed calls   by the clock that tells the device's own time

Covered: reference and candidate do all of this through the same object, so that both pay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import torch

from cuda_gym.judge.sandbox.messages import (
    RegionSpec,
    TensorSpec,
)
from cuda_gym.judge.sandbox.regions import Region

if TYPE_CHECKING:
    from cuda_gym.judge.sandbox.cuda_comparing import CudaComparing
    from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing

__all__ = ["TimedCalls", "WorkerDevice"]

Kept = TypeVar("Kept")


@dataclass(frozen=True, kw_only=True)
class TimedCalls(Generic[Kept]):
    """What some calls took, and what they gave."""

    call_ns: tuple[int, ...]
    """Of each call, by the device's own time where there is one."""
    host_ns: tuple[int, ...]
    """How long each call kept the host."""
    num_ungated: int
    """Calls whose gate had opened before the host was done: they measure the host."""
    kept: list[Kept]


class WorkerDevice(Protocol):
    """A device as one process uses it."""

    @property
    def torch_device(self) -> torch.device:
        """Where tensors are."""
        ...

    @property
    def name(self) -> str:
        """Of the hardware: what was measured on it holds for what has the same name."""
        ...

    @property
    def alignment(self) -> int:
        """Of tensors in a region, in bytes."""
        ...

    @property
    def keeps_originals(self) -> bool:
        """Whether inputs, once handed out, are not read again: nothing seals them, or they lie elsewhere."""
        ...

    @property
    def outputs_stay(self) -> bool:
        """Whether all outputs of a timed block are held until it is over, so that each has memory of its own."""
        ...

    @property
    def sealing(self) -> CudaSealing | None:
        """What seals blocks; None where a process that is stopped has stopped working, or none was wanted."""
        ...

    @property
    def comparing(self) -> CudaComparing | None:
        """What compares without torch; None where torch does it."""
        ...

    def give_memory_back(self, *, most_kept: int = 0) -> None:
        """Keep no memory that is not used, where others would miss it.

        Args:
            most_kept: Bytes that may stay, for they are used again soon and take time to get.
        """
        ...

    def total_bytes(self) -> int | None:
        """Memory of the device, where others take from it as well; None where nobody counts."""
        ...

    def spare_bytes(self) -> int:
        """What may be taken for things that are made ahead."""
        ...

    def create_inputs(
        self,
        num_bytes: int,
        parts: Iterable[tuple[TensorSpec, torch.Tensor]],
        earlier: Region | None = None,
    ) -> Region:
        """A region that holds these tensors.

        Args:
            num_bytes: Of all of them, as they are laid out.
            parts: Each with its place.
            earlier: One that nobody needs any more; used again where that is possible.
        """
        ...

    def create_outputs(self, num_bytes: int) -> Region:
        """A region that somebody else will write to."""
        ...

    def open_region(self, spec: RegionSpec, descriptor: int, *, is_output: bool) -> Region:
        """What the reference has made; the descriptor stays the caller's."""
        ...

    def publish(self, region: Region) -> None:
        """Let the owner of an opened output region see what was written there."""
        ...

    def original(self, region: Region) -> Region | None:
        """The inputs as they were, on the host, where this process may have changed its copy of them."""
        ...

    def forget_writes(self, region: Region, *, is_timed: bool) -> None:
        """Before calls: see the inputs as the reference has written them, whatever this process wrote there.

        Args:
            region: Of the inputs.
            is_timed: Whether the judge's clock runs.
        """
        ...

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Copy between tensors of one form, without an operator of torch, in the order of the calls."""
        ...

    def scratch(self, like: torch.Tensor) -> torch.Tensor:
        """A private tensor of this form, its memory there: touched, where that is not so by itself."""
        ...

    def fill(self, tensor: torch.Tensor, value: int) -> None:
        """Write every byte of a tensor, as a call that does nothing else would."""
        ...

    def timed_calls(
        self,
        call: Callable[[Any], Any],
        calls: Sequence[Any],
        *,
        keep: Callable[[int, Any], Kept],
        gate_ns: int,
    ) -> TimedCalls[Kept]:
        """Call once for each entry, without gradients and without garbage collection.

        Args:
            call: What is called.
            calls: The argument of each call.
            keep: What to keep of a result, by the number of the call; not timed.
            gate_ns: How long the device waits before each call, so that the host is done when it begins.

        Raises:
            DeviceFault: the device failed.
        """
        ...

    def synchronise(self) -> None:
        """Wait until the device has done all that it was given.

        Raises:
            DeviceFault: some of that failed.
            RuntimeError: it cannot be waited for just now, as while a stream is captured.
        """
        ...

    def evict_caches(self, streamed_bytes: int = 0) -> None:
        """Leave nothing in the caches that a call could find there.

        Args:
            streamed_bytes: Of contents that are read one after the other, and so evict each other.
        """
        ...
