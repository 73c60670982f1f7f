"""The tests' own process is read as if it were a submission's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from cuda_gym.errors import CandidateError
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import RegionSpec, TensorSpec
from cuda_gym.judge.sandbox.outside_memory import OutsideMemory

TENSORS = {
    "in a row": torch.arange(24, dtype=torch.float32).view(4, 6),
    "transposed": torch.arange(24, dtype=torch.float64).view(4, 6).t(),
    "permuted": torch.arange(24, dtype=torch.int32).view(2, 3, 4).permute(2, 0, 1),
    "every second": torch.arange(24, dtype=torch.int16)[::2],
    "one row for all": torch.arange(6, dtype=torch.bfloat16).expand(4, 6),
    "a number": torch.tensor(7.5),
    "truths": torch.tensor([True, False, True]),
    "bytes that begin anywhere": torch.arange(9, dtype=torch.uint8)[1:],
    "more than a piece": torch.arange(1_500_000),
    "nothing": torch.empty(0, 3),
}


@contextmanager
def own_memory() -> Iterator[OutsideMemory]:
    pidfd = os.pidfd_open(os.getpid())
    memory = OutsideMemory.of(pidfd)
    os.close(pidfd)
    assert memory is not None
    try:
        yield memory
    finally:
        memory.close()


def place(tensor: torch.Tensor) -> tuple[int, ...]:
    return (tensor.data_ptr(), *tensor.stride()) if tensor.numel() else ()


@pytest.mark.parametrize("name", TENSORS)
def test_an_output_is_copied_as_it_lies_there(name: str) -> None:
    tensor, other = TENSORS[name], torch.arange(5)
    layout = transport.Layout(64)
    specs = [layout.place(other), layout.place(tensor)]
    room = MemfdRegion.create_outputs(layout.num_bytes)
    region = RegionSpec(number=1, num_bytes=room.num_bytes)
    descriptor = room.export()
    with own_memory() as memory:
        memory.read_outputs([place(other), place(tensor)], specs, region, descriptor)
    os.close(descriptor)
    assert torch.equal(room.tensor(specs[0]), other)
    assert torch.equal(room.tensor(specs[1]), tensor)


HELD = torch.arange(6.0)


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([], "0 outputs where 1 are due"),
        ([()], "at ()"),
        ([(HELD.data_ptr(),)], "an output of shape (2, 3)"),
        ([(HELD.data_ptr(), 3, -1)], "an output of shape (2, 3)"),
        ([(HELD.data_ptr(), 1 << 40, 1)], "that spans"),
        ([(0, 3, 1)], "where it has no memory"),
        ([(1 << 70, 3, 1)], "where it has no memory"),
        ([((1 << 63) - 4, 3, 1)], "where it has no memory"),
    ],
)
def test_a_place_that_cannot_be_is_the_fault_of_who_tells_it(
    places: list[tuple[int, ...]], told: str
) -> None:
    room = MemfdRegion.create_outputs(64)
    descriptor = room.export()
    spec = TensorSpec(dtype="float32", shape=(2, 3), offset=0)
    region = RegionSpec(number=1, num_bytes=64)
    with own_memory() as memory, pytest.raises(CandidateError) as caught:
        memory.read_outputs(places, [spec], region, descriptor)
    os.close(descriptor)
    assert told in str(caught.value)


def test_a_process_that_is_gone_is_not_looked_into() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    pidfd = os.pidfd_open(child)
    os.waitpid(child, 0)
    assert OutsideMemory.of(pidfd) is None
    os.close(pidfd)
