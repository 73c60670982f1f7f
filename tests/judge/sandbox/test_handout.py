"""What is handed out comes back in its places, and a changed input is noticed."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from tests.judge.sandbox.staged_device import StagedDevice

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.profiling.memory_seals import seals_future_writes
from cuda_gym.judge.sandbox import handout as handout_module
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.outputs import OutputSink, require_unchanged
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

RESULT = [torch.empty(4)]


class UnsealedDevice(CpuWorkerDevice):
    """One whose inputs anybody may write to, as in exported memory of a GPU."""

    keeps_originals = True

    def create_inputs(self, num_bytes: int, parts: Any, earlier: Any = None) -> Any:
        fits = earlier is not None and earlier.num_bytes == num_bytes
        region = earlier if fits else Unsealed(MemfdRegion.create_outputs(num_bytes))
        for spec, tensor in parts:
            region.tensor(spec).copy_(tensor)
        return region


class Unsealed:
    """Such memory."""

    def __init__(self, region: Any) -> None:
        self.region = region

    def __getattr__(self, name: str) -> Any:
        return getattr(self.region, name)


def batches(count: int) -> list[list[Any]]:
    return [[torch.full((4,), float(number)), 3, {"y": torch.ones(2)}] for number in range(count)]


@pytest.fixture(params=[CpuWorkerDevice, UnsealedDevice, StagedDevice])
def device(request: pytest.FixtureRequest) -> WorkerDevice:
    device: WorkerDevice = request.param()
    return device


def opened(device: WorkerDevice, handout: Handout) -> tuple[Any, Any]:
    """Both regions as a candidate opens them."""
    given, returned = handout.descriptors()
    regions = (
        device.open_region(handout.input_spec, given, is_output=False),
        device.open_region(handout.output_spec, returned, is_output=True),
    )
    os.close(given)
    os.close(returned)
    return regions


def test_each_call_gets_its_inputs_and_gives_its_outputs(device: WorkerDevice) -> None:
    handout = Handout.of(device, batches(3), RESULT)
    given, room = opened(device, handout)
    targets = [[room.tensor(spec) for spec in call] for call in handout.specs]
    sink = OutputSink(device, targets, inputs=(given.address, given.num_bytes))
    for number, tree in enumerate(handout.trees):
        x, factor, more = transport.decode_tree(tree, given)
        sink.take(number, x * factor + more["y"].sum())
    device.publish(room)
    assert [float(out[0]) for (out,) in handout.delivered()] == [2.0, 5.0, 8.0]
    assert [float(out[0]) for (out,) in handout.delivered(1, 2)] == [5.0]
    assert torch.equal(handout.call(2)[0], torch.full((4,), 2.0))
    assert handout.changed_input() is None


def test_what_came_back_is_a_copy_that_a_late_write_does_not_reach(device: WorkerDevice) -> None:
    handout = Handout.of(device, batches(1), RESULT)
    (before,) = handout.delivered()
    _, room = opened(device, handout)
    room.tensor(handout.specs[0][0]).fill_(7.0)
    device.publish(room)
    (after,) = handout.delivered()
    assert not before[0].any()
    assert torch.equal(after[0], torch.full((4,), 7.0))


def test_tensors_of_every_form_arrive_as_they_were(device: WorkerDevice) -> None:
    batch = [torch.ones_like(form) for form in FORMS]
    batch[-1] = torch.arange(9.0)[::3][:1]
    handout = Handout.of(device, [batch], RESULT)
    given, _ = opened(device, handout)
    assert all(map(torch.equal, transport.decode_tree(handout.trees[0], given), batch))


def test_calls_on_one_content_share_its_place() -> None:
    device, (batch,) = CpuWorkerDevice(), batches(1)
    handout = Handout.of(device, [batch] * 5, RESULT)
    assert handout.input_bytes == Handout.of(device, [batch], RESULT).input_bytes
    assert len(handout.specs) == len({specs[0].offset for specs in handout.specs}) == 5


def test_an_input_that_was_changed_where_nothing_is_sealed_is_found_with_its_number() -> None:
    handout = Handout.of(UnsealedDevice(), batches(2), RESULT)
    assert handout.changed_input() is None
    x, _, more = transport.decode_tree(handout.trees[1], handout.inputs)
    more["y"][0] = -0.0
    more["y"][0] *= 0.0
    x[1:3] = float("nan")
    assert handout.changed_input() == (0, 2)


def test_a_changed_bit_is_a_change_and_nan_that_stays_is_none() -> None:
    batch = [torch.tensor([0.0, float("nan"), 1.0]), torch.tensor(True), torch.empty(0)]
    handout = Handout.of(UnsealedDevice(), [batch], RESULT)
    assert handout.changed_input() is None
    transport.decode_tree(handout.trees[0], handout.inputs)[0][0] = -0.0
    assert handout.changed_input() == (0, 1)


FORMS = [
    torch.zeros(3, dtype=torch.uint8),
    torch.zeros(5, dtype=torch.float16),
    torch.zeros(4, 6).t(),
    torch.zeros(9)[1:],
    torch.zeros(9)[1:5],
    torch.zeros(2, 8, dtype=torch.bool),
    torch.zeros((), dtype=torch.int64),
    torch.zeros(9)[::3][:1],
]
"""Of whole words and of parts of them, such as begin within one, and one that is not followed by a next."""


@pytest.mark.parametrize("place", range(len(FORMS)))
@pytest.mark.parametrize("last", [0, -1])
def test_a_change_is_found_at_either_end_of_a_tensor_of_any_form(place: int, last: int) -> None:
    handout = Handout.of(UnsealedDevice(), [[torch.empty(0), *FORMS] for _ in range(3)], RESULT)
    assert handout.changed_input() is None
    changed = transport.decode_tree(handout.trees[2], handout.inputs)[1 + place]
    changed.view(-1)[last] = 1
    assert handout.changed_input() == (1 + place, 1)
    assert handout.emptied().changed_input() is None


@pytest.mark.parametrize("kind", [CpuWorkerDevice, StagedDevice])
def test_where_inputs_are_sealed_the_candidate_looks_at_its_own_copy(kind: Any) -> None:
    device = kind()
    nan = torch.tensor([float("nan"), 2.0])
    handout = Handout.of(device, [[torch.zeros(4), nan, torch.tensor(1.0)]], RESULT)
    given, _ = opened(device, handout)

    def look() -> None:
        original = device.original(given)
        if original is not None:
            require_unchanged(device, handout.trees, given, original)

    look()
    transport.decode_tree(handout.trees[0], given)[1][1] = 3.0
    with pytest.raises(WrongOutput, match="changed 1 elements of its input 1"):
        look()
    assert handout.changed_input() is None


@pytest.mark.parametrize("kind", [CpuWorkerDevice, UnsealedDevice])
def test_regions_of_before_are_used_again_where_they_fit(kind: Any) -> None:
    if kind is CpuWorkerDevice and not seals_future_writes():
        pytest.skip("this Linux lets no owner write to what it sealed")
    device = kind()
    first = Handout.of(device, batches(2), RESULT)
    given, _ = opened(device, first)
    again = Handout.of(device, batches(2)[::-1], RESULT, earlier=first)
    assert torch.equal(transport.decode_tree(first.trees[0], given)[0], torch.ones(4))
    other = Handout.of(device, batches(3), RESULT, earlier=again)
    assert (again.input_spec, again.output_spec) == (first.input_spec, first.output_spec)
    assert other.input_spec.number not in (first.input_spec.number, first.output_spec.number)
    assert other.output_spec.number != first.output_spec.number
    assert other.outputs.num_bytes > first.outputs.num_bytes


def test_under_the_clock_only_who_wrote_to_inputs_before_looks_at_them_anew() -> None:
    reference, tidy, careless = CpuWorkerDevice(), CpuWorkerDevice(), CpuWorkerDevice()
    handout = Handout.of(reference, batches(1), RESULT)
    for device in (tidy, careless):
        given, _ = opened(device, handout)
        x = transport.decode_tree(handout.trees[0], given)[0]
        if device is careless:
            x.copy_(x.clone())
        assert device.original(given) is None
        x[0] = 7.0
        device.forget_writes(given, is_timed=True)
        assert float(x[0]) == (0.0 if device is careless else 7.0)
        device.forget_writes(given, is_timed=False)
        assert float(x[0]) == 0.0


class RoomyDevice(UnsealedDevice):
    """One that writes to an earlier region wherever it is large enough."""

    def create_inputs(self, num_bytes: int, parts: Any, earlier: Any = None) -> Any:
        fits = earlier is not None and earlier.num_bytes >= num_bytes
        return super().create_inputs(earlier.num_bytes if fits else num_bytes, parts, earlier)


def test_regions_that_are_large_enough_are_used_again_and_hold_what_is_new() -> None:
    device = RoomyDevice()
    first = Handout.of(device, batches(3), RESULT)
    again = Handout.of(device, batches(2), RESULT, earlier=first)
    assert (again.inputs, again.outputs) == (first.inputs, first.outputs)
    assert (again.input_spec, again.output_spec) == (first.input_spec, first.output_spec)
    assert len(again.specs) == 2
    larger = Handout.of(device, batches(4), RESULT, earlier=again)
    assert larger.inputs is not first.inputs
    assert larger.outputs is not first.outputs


def test_a_sealed_region_is_as_large_as_what_lies_in_it() -> None:
    device = RoomyDevice()
    first = Handout.of(device, batches(3), RESULT)
    assert Handout.of(device, batches(2), RESULT, earlier=first, key=1).inputs is not first.inputs
    assert Handout.of(device, batches(3), RESULT, earlier=first, key=1).inputs is first.inputs


class _Comparing:
    """As on a GPU; notes how much was copied for it at once."""

    def __init__(self, originals: list[torch.Tensor]) -> None:
        self._addresses = {tensor.data_ptr() for tensor in originals}
        self.copied_at_once: list[int] = []

    def differ(self, twins: list[tuple[torch.Tensor, torch.Tensor]]) -> bool:
        self.copied_at_once.append(
            sum(one.numel() > 0 and one.data_ptr() not in self._addresses for one, _ in twins)
        )
        return any(not torch.equal(one.flatten(), other.flatten()) for one, other in twins)


def test_of_inputs_that_do_not_lie_in_a_row_one_is_copied_at_a_time_to_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = [[torch.rand(4, 6).t(), torch.rand(5), torch.rand(3, 2).t()] for _ in range(3)]
    handout = Handout.of(UnsealedDevice(), batches, RESULT)
    monkeypatch.setattr(handout_module, "CudaRegion", Unsealed)
    comparing: Any = _Comparing([tensor for batch in batches for tensor in batch])
    assert handout.changed_input(comparing) is None
    assert comparing.copied_at_once == [0] + 6 * [1]
    transport.decode_tree(handout.trees[2], handout.inputs)[2][1, 1] += 1.0
    assert handout.changed_input(comparing) == (2, 1)
