"""What a sealed block takes in which nothing is called: the reference queues one, and opens its gate itself.

That is subtracted from what the same block took with a submission's calls. A submission may have left work on
the device that slows this down, so as to look faster. So the least that was ever seen for so many calls is
remembered, from before there was a submission, and nothing much above it is believed.

Covered: gates that the host does not keep up with, which a submission that waits for the device has too.
Not covered: a device that is slower than ever for a good reason; then calls look longer than they are, by
what is not believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.cuda_sealing import Room
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.records import load_record, save_record
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.sealed_page import SealedPage, new_key
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["EmptyBlocks"]

_TOLERANCE, _TOLERANCE_US = 1.05, 5.0
_FIXED_US = 60.0
"""What a block takes that does not depend on the number of its calls, at most."""
_MOST_HOST_US = 100.0
"""What the host may add where a block is not queued before it begins: half a dozen launches."""
_TRIES = 3
_MOST_S = 10.0


class EmptyBlocks:
    """Of one task on one machine.

    Args:
        device: That seals.
        records: Where the least is remembered.
        key: Under which name.
    """

    def __init__(self, device: WorkerDevice, *, records: Path, key: str) -> None:
        self._device = device
        self._records = records
        self._key = key
        known: Mapping[str, Any] = load_record(records, key) or {}
        self._least_us = {int(count): float(us) for count, us in known.items()}

    def knows(self, count: int) -> bool:
        """Whether a block of so many calls was seen before."""
        return count in self._least_us

    def measure_us(self, handout: Handout, count: int, *, queued: bool) -> float:
        """What a block of `count` calls takes without them, in the sealed contents of a handout.

        Args:
            handout: Its contents are worth nothing afterwards.
            count: As many as there are.
            queued: Whether the gate opens when all is queued, or at once.
        """
        if not queued:
            # A submission chooses this by its own claim, and its leftover work slows that down, too.
            us = self._once_us(handout, queued=False)
            return min(us, self.measure_us(handout, count, queued=True) + _MOST_HOST_US)
        most_us = self._most_us(count)
        us = math.inf
        for _ in range(_TRIES):
            us = min(us, self._once_us(handout, queued=True))
            if us <= most_us:
                break
        us = min(us, most_us)
        self._remember(count, us)
        return us

    def _most_us(self, count: int) -> float:
        """What is believed at most; infinite where nothing is known yet."""
        if count in self._least_us:
            return _TOLERANCE * self._least_us[count] + _TOLERANCE_US
        # What does not depend on the number of calls is part of each that is known, and of none a second time.
        return min(
            (
                _TOLERANCE * us * count / known + (_FIXED_US if known > count else _TOLERANCE_US)
                for known, us in self._least_us.items()
            ),
            default=math.inf,
        )

    def _remember(self, count: int, us: float) -> None:
        known_us = self._least_us.get(count, math.inf)
        self._least_us[count] = min(us, known_us)
        if us < 0.98 * known_us:
            save_record(self._records, self._key, {str(n): t for n, t in self._least_us.items()})

    def _once_us(self, handout: Handout, *, queued: bool) -> float:
        sealing, walls_us = self._device.sealing, list[float]()
        assert sealing is not None
        outputs = handout.returned()
        page, key = SealedPage.create(num_outputs=len(outputs)), new_key()
        opened_ns = list[int]()

        def open_gate() -> None:
            opened_ns.append(page.open_gate(key))

        def begin() -> None:
            if not queued:
                open_gate()

        def wait() -> None:
            if queued:
                open_gate()
            walls_us.append(page.wait(opened_ns[0], was_queued=queued, most_s=_MOST_S).wall_us)

        sizes = [tensor.numel() * tensor.element_size() for tensor in outputs]
        inputs = _room(handout.inputs, self._device)
        sealing.run(page, inputs, lambda: outputs, sizes, when_begun=begin, when_queued=wait)
        return walls_us[0]


def _room(region: Region, device: WorkerDevice) -> Room:
    """What is sealed and summed up: the region itself, if it is memory of the device."""
    if isinstance(region, CudaRegion):
        return region
    return _Room(torch.empty(region.num_bytes, dtype=torch.uint8, device=device.torch_device))


@dataclass(frozen=True)
class _Room:
    """Memory of the device, of the size of a region that lies elsewhere."""

    memory: torch.Tensor

    @property
    def address(self) -> int:
        return self.memory.data_ptr()

    @property
    def num_bytes(self) -> int:
        return self.memory.numel()
