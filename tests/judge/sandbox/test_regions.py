"""What lies in a region is seen on the other side, and only what may be changed can be."""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from tests.judge.sandbox.staged_device import StagedDevice

from cuda_gym.judge.profiling import memory_seals
from cuda_gym.judge.sandbox.cuda_regions import is_supported
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.protocol import ProtocolError
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.staged_regions import ReturnedRegion, StagedRegion
from cuda_gym.judge.sandbox.transport import Layout

VALUES = torch.arange(6.0).view(2, 3)
SPEC = TensorSpec(dtype="float32", shape=(2, 3), offset=64)
F_GET_SEALS = 1034
renews = pytest.mark.skipif(
    not memory_seals.seals_future_writes(),
    reason="this Linux lets no owner write to what it sealed",
)


@contextmanager
def exported(region: Region) -> Iterator[int]:
    descriptor = region.export()
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def inputs() -> MemfdRegion:
    return MemfdRegion.create_inputs(128, [(SPEC, VALUES)])


def test_a_candidate_writes_to_its_own_copy_of_the_inputs(inputs: MemfdRegion) -> None:
    with exported(inputs) as descriptor:
        theirs = MemfdRegion.open(descriptor, shared=False)
    assert theirs.original() is None
    assert torch.equal(theirs.tensor(SPEC), VALUES)
    theirs.tensor(SPEC).zero_()
    assert torch.equal(inputs.tensor(SPEC), VALUES)
    original = theirs.original()
    assert original is not None
    assert torch.equal(original.tensor(SPEC), VALUES)


def test_nobody_can_write_to_sealed_inputs(inputs: MemfdRegion) -> None:
    with exported(inputs) as descriptor:
        with pytest.raises(PermissionError):
            os.pwrite(descriptor, b"x", 64)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 0)
        with pytest.raises(PermissionError):
            mmap.mmap(descriptor, 128, flags=mmap.MAP_SHARED)
    inputs.tensor(SPEC).zero_()  # a private copy, too
    with exported(inputs) as descriptor:
        assert torch.equal(MemfdRegion.open(descriptor, shared=False).tensor(SPEC), VALUES)


@renews
def test_the_owner_writes_again_and_who_has_mapped_it_sees_that(inputs: MemfdRegion) -> None:
    with exported(inputs) as descriptor:
        theirs = MemfdRegion.open(descriptor, shared=False)
    seen = theirs.tensor(SPEC)
    assert torch.equal(seen, VALUES)
    assert inputs.write_again(128, [(SPEC, VALUES + 1.0)])
    assert torch.equal(seen, VALUES + 1.0)
    assert torch.equal(inputs.tensor(SPEC), VALUES + 1.0)
    assert not inputs.write_again(64, [(SPEC, VALUES)]), "it has another size"
    assert not theirs.write_again(128, [(SPEC, VALUES)]), "it is not theirs"
    assert torch.equal(seen, VALUES + 1.0)


@renews
def test_who_wrote_to_its_own_copy_keeps_that_until_it_lets_go(inputs: MemfdRegion) -> None:
    with exported(inputs) as descriptor:
        theirs = MemfdRegion.open(descriptor, shared=False)
    assert not theirs.has_own_pages()
    seen = theirs.tensor(SPEC)
    seen.copy_(VALUES)  # what was there before
    assert theirs.has_own_pages()
    assert theirs.original() is None
    inputs.tensor(SPEC).zero_()
    assert inputs.write_again(128, [(SPEC, VALUES + 1.0)])
    assert torch.equal(seen, VALUES)
    assert torch.equal(inputs.tensor(SPEC), VALUES + 1.0), "the owner's own copy is let go of"
    theirs.forget_writes()
    assert torch.equal(seen, VALUES + 1.0)
    assert not theirs.has_own_pages()


def test_where_linux_lets_no_owner_write_again_inputs_are_sealed_for_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory_seals, "seals_future_writes", lambda: False)
    inputs = MemfdRegion.create_inputs(128, [(SPEC, VALUES)])
    assert not inputs.write_again(128, [(SPEC, VALUES + 1.0)])
    with exported(inputs) as descriptor:
        assert fcntl.fcntl(descriptor, F_GET_SEALS) == memory_seals.WRITE | memory_seals.SIZE
        assert torch.equal(MemfdRegion.open(descriptor, shared=False).tensor(SPEC), VALUES)


def test_outputs_are_zero_keep_their_size_and_come_back() -> None:
    ours = MemfdRegion.create_outputs(128)
    with exported(ours) as descriptor:
        theirs = MemfdRegion.open(descriptor, shared=True)
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, 64)
    assert not ours.tensor(SPEC).any()
    theirs.tensor(SPEC).copy_(VALUES)
    assert torch.equal(ours.tensor(SPEC), VALUES)


@pytest.mark.parametrize(
    "spec",
    [
        TensorSpec(dtype="float32", shape=(2, 3), offset=108),
        TensorSpec(dtype="float32", shape=(2, 3), offset=-24),
        TensorSpec(dtype="float32", shape=(-2, -3), offset=0),
        TensorSpec(dtype="load", shape=(1,), offset=0),
    ],
)
def test_a_place_that_is_none_is_refused(spec: TensorSpec, inputs: MemfdRegion) -> None:
    with pytest.raises(ProtocolError):
        inputs.tensor(spec)


@pytest.mark.parametrize("alignment", [64, 512])
def test_tensors_lie_side_by_side_each_where_the_device_wants_it(alignment: int) -> None:
    layout = Layout(alignment)
    specs = [layout.place(torch.empty(shape)) for shape in ((3,), (), (0, 4), (1, 200))]
    assert [spec.offset % alignment for spec in specs] == [0, 0, 0, 0]
    ends = [spec.offset + 4 * torch.Size(spec.shape).numel() for spec in specs]
    assert all(end <= later.offset for end, later in zip(ends, specs[1:], strict=False))
    assert ends[-1] <= layout.num_bytes < ends[-1] + alignment


def test_without_the_bindings_nothing_is_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    assert not is_supported(0)


def test_a_device_that_cannot_share_gets_its_inputs_and_gives_its_outputs_by_copies(
    inputs: MemfdRegion,
) -> None:
    device = StagedDevice()
    room = ReturnedRegion(MemfdRegion.create_outputs(128), device.torch_device)
    with exported(inputs) as given, exported(room) as returned:
        staged = StagedRegion.open(given, device, is_output=False)
        outputs = StagedRegion.open(returned, device, is_output=True)
    assert torch.equal(staged.tensor(SPEC), VALUES)
    outputs.tensor(SPEC).copy_(staged.tensor(SPEC) + 1.0)
    assert not room.tensor(SPEC).any(), "nothing is shared"
    outputs.publish()
    assert torch.equal(room.tensor(SPEC), VALUES + 1.0)
    staged.tensor(SPEC).zero_()
    assert torch.equal(staged.original().tensor(SPEC), VALUES)
