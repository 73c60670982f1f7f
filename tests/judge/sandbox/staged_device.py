"""A device that cannot export its memory, on the CPU: it hands over as a GPU without that does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import RegionSpec, TensorSpec
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.staged_regions import ReturnedRegion, StagedRegion

__all__ = ["StagedDevice"]


class StagedDevice:
    """See `WorkerDevice`; all but the hand-over is the processor's."""

    torch_device = torch.device("cpu")
    alignment = 512
    keeps_originals = True

    def __init__(self) -> None:
        self._cpu = CpuWorkerDevice()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cpu, name)

    def create_inputs(
        self,
        num_bytes: int,
        parts: Iterable[tuple[TensorSpec, torch.Tensor]],
        earlier: Region | None = None,
    ) -> Region:
        return MemfdRegion.create_inputs(num_bytes, parts)

    def create_outputs(self, num_bytes: int) -> Region:
        return ReturnedRegion(MemfdRegion.create_outputs(num_bytes), self.torch_device)

    def open_region(self, spec: RegionSpec, descriptor: int, *, is_output: bool) -> Region:
        return StagedRegion.open(descriptor, self, is_output=is_output)

    def publish(self, region: Region) -> None:
        assert isinstance(region, StagedRegion)
        region.publish()

    def original(self, region: Region) -> Region | None:
        assert isinstance(region, StagedRegion)
        return region.original()

    def copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        self._cpu.copy(target, source)

    def synchronise(self) -> None:
        self._cpu.synchronise()
