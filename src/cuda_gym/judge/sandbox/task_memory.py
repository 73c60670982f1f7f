"""What memory a task takes in a reference's process: how much may be made ahead, what is let go between phases.

Covered: a device whose memory a candidate needs as well. Not covered: what a candidate takes (`device_memory`).
"""

from __future__ import annotations

import math

import torch

from cuda_gym.judge.profiling.memory_budget import LARGE_BYTES
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.admission import Admission, OutputSpec

__all__ = ["TaskMemory"]

_MAKING = 3
"""What is held while a draw is made, as a multiple of what it expects: that, and gold in float64."""


class TaskMemory:
    """Of one task on one device.

    Args:
        device: That it lies on.
        admission: What the task was seen to hold.
    """

    def __init__(self, device: WorkerDevice, admission: Admission) -> None:
        self._device = device
        self.is_large = admission.peak_bytes > LARGE_BYTES
        """Whether a candidate would miss what is kept for later."""
        self.written_bytes = sum(map(_num_bytes, admission.outputs))
        """Outputs of one call."""
        self._expected_bytes = sum(map(_expected_bytes, admission.outputs))
        self._held_bytes = admission.peak_bytes - self.written_bytes + self._expected_bytes

    def most_ahead(self) -> int:
        """How many draws may be held while one more is made."""
        spare = max(0, self._device.spare_bytes() - _MAKING * self._expected_bytes)
        return spare // max(1, self._held_bytes)

    def end_phase(self, *, most_kept: int | None = None) -> None:
        """What comes next needs memory in other sizes: where a task is large, none is kept for it.

        Not between the blocks of a race, whose calls would have to get it anew.

        Args:
            most_kept: Bytes that a task which is not large may keep; None where it keeps all.
        """
        if self.is_large:
            self._device.give_memory_back()
        elif most_kept is not None:
            self._device.give_memory_back(most_kept=most_kept)


def _num_bytes(output: OutputSpec) -> int:
    return math.prod(output.shape) * int(getattr(torch, output.dtype).itemsize)


def _expected_bytes(output: OutputSpec) -> int:
    """Of what is compared with an output: at least single precision."""
    return math.prod(output.shape) * max(4, int(getattr(torch, output.dtype).itemsize))
