"""What a reference's process is made of, put together here for one small task."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cuda_gym.core.task import Task
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.draw_stock import DrawStock, MovingWeights
from cuda_gym.judge.sandbox.empty_blocks import EmptyBlocks
from cuda_gym.judge.sandbox.exchange import Exchange
from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.sandbox.timed_contents import TimedContents
from cuda_gym.judge.sandbox.timed_reference import TimedReference
from cuda_gym.judge.verification.admission import Admission, OutputSpec
from cuda_gym.judge.verification.gold import GoldKind
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["LINEAR", "Parts", "put_together", "settings_kept"]

LINEAR = Task(
    id="test/linear",
    title="linear",
    source="""import torch
from torch import nn


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(16, 8)]


def get_init_inputs() -> list[int]:
    return []
""",
)
"""A task with weights."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Of one reference, its task opened."""

    stock: DrawStock
    weights: MovingWeights
    exchange: Exchange
    contents: TimedContents


def put_together(folder: Path) -> Parts:
    """As a reference does it; nothing is tried, compiled or timed."""
    device = CpuWorkerDevice()
    reference = ReferenceModule.of(LINEAR, device.torch_device)
    weights = MovingWeights(reference.make_model(0))
    admission = Admission(
        draw_kinds=(DrawKind.ORDINARY, DrawKind.SIGNED),
        outputs=(OutputSpec(dtype="float32", shape=(16, 4)),),
        gold=GoldKind.FLOAT64,
        peak_bytes=1 << 12,
    )
    memory = TaskMemory(device, admission)
    stock = DrawStock(reference, weights, admission, memory)
    exchange = Exchange(device, stock, memory)
    compiled = TimedReference(
        device,
        weights.model,
        reference.make_inputs,
        num_threads=1,
        peak_bytes=admission.peak_bytes,
        records=folder,
        key="baseline",
    )
    contents = TimedContents(
        device,
        exchange,
        stock,
        memory,
        reference.make_inputs,
        compiled=compiled,
        empty=EmptyBlocks(device, records=folder, key="empty blocks"),
        num_threads=1,
    )
    return Parts(stock=stock, weights=weights, exchange=exchange, contents=contents)


@contextmanager
def settings_kept() -> Iterator[None]:
    """What a reference sets for its whole process is put back."""
    environment, flags = (
        dict(os.environ),
        list[Any]((torch.backends.cuda.matmul, torch.backends.cudnn)),
    )
    allowed = [flag.allow_tf32 for flag in flags]
    try:
        yield
    finally:
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)  # never empty: other threads start processes
        for flag, was_allowed in zip(flags, allowed, strict=True):
            flag.allow_tf32 = was_allowed
