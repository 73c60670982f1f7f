"""Processes that are of no use are not kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.errors import OutOfDeviceMemory, WorkerLost
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.pool import WorkerPool

TASK = Path(__file__).parents[2] / "hacks/tasks/relu/reference.py"


def pool_of(folder: Path) -> WorkerPool:
    return WorkerPool(
        Device.parse("cpu"),
        num_threads=1,
        memory_bytes=1 << 30,
        max_references=1,
        folder=folder,
        deadlines=Deadlines(),
    )


@pytest.mark.slow
def test_a_reference_that_the_machine_kept_from_opening_its_task_is_not_used_again(
    tmp_path: Path,
) -> None:
    room = tmp_path / "room"
    lacking = f"import os\nif not os.path.exists({str(room)!r}): raise MemoryError\n"
    task = Task(id="test/relu", title="relu", source=f"{lacking}{TASK.read_text()}")
    pool = pool_of(tmp_path)
    try:
        with pool.reference(task) as first:
            with pytest.raises(OutOfDeviceMemory, match="ran out of memory"):
                assert first.opened
            assert first.probe() is None
            first.rest()
        room.touch()
        with pool.reference(task) as second:
            assert second is not first
            assert second.opened["draws"]
    finally:
        pool.close()


def test_what_was_begun_before_it_is_closed_starts_nothing_afterwards(tmp_path: Path) -> None:
    pool = pool_of(tmp_path)
    pool.close()
    for begin in (pool.start, pool.fork):
        with pytest.raises(WorkerLost, match="was closed"):
            begin()
