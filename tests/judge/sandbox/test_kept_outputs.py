from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
import torch

from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.candidate import Candidate
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.kept_outputs import KeptOutputs
from cuda_gym.judge.sandbox.messages import Run
from cuda_gym.judge.sandbox.outputs import OutputSink
from cuda_gym.judge.sandbox.sealed_calls import call_sealed
from cuda_gym.judge.sandbox.telling import Told

DEVICE = CpuWorkerDevice()


def kept_of(
    forward: Callable[[int], torch.Tensor], kept: KeptOutputs, count: int = 3
) -> Sequence[torch.Tensor]:
    """What lies in the places that a block of calls has told, when it is over."""
    sink = OutputSink(DEVICE, [[torch.empty(2, 3)]] * count, inputs=(0, 0))
    kept.let_go()
    call = kept.call(forward)
    for number in range(count):
        kept.keep(sink, number, call(number))
    return [
        held.clone()
        for held, (address, *strides) in zip(kept._held, kept.places, strict=True)
        if held.data_ptr() == address and held.stride() == tuple(strides)
    ]


def filled(number: int) -> list[torch.Tensor]:
    return [torch.full((2, 3), float(n)) for n in range(number)]


def test_each_output_stays_where_it_is_until_the_block_is_over() -> None:
    kept = KeptOutputs(DEVICE)
    outputs = kept_of(lambda number: torch.full((2, 3), float(number)), kept)
    assert all(map(torch.equal, outputs, filled(3)))
    assert len({address for address, *_ in kept.places}) == 3
    kept.let_go()
    assert kept.places == ()


def test_memory_that_is_returned_again_is_told_once_and_copied_from_then_on() -> None:
    ring = [torch.empty(2, 3), torch.empty(2, 3)]
    kept = KeptOutputs(DEVICE)

    def forward(number: int) -> torch.Tensor:
        return ring[number % 2].fill_(number)

    with pytest.raises(Told) as told:
        kept_of(forward, kept)
    assert told.value.kind == "again"
    assert "which is still held" in str(told.value)
    assert all(map(torch.equal, kept_of(forward, kept), filled(3)))


def test_what_draws_have_shown_to_be_returned_again_is_copied_at_once() -> None:
    one = torch.empty(2, 3)
    kept = KeptOutputs(DEVICE)
    kept.note(one)
    assert not kept.copies
    kept.note([one])
    assert kept.copies
    assert all(map(torch.equal, kept_of(lambda number: one.fill_(number), kept), filled(3)))


def test_a_tensor_that_spans_much_more_than_it_holds_is_copied_and_a_transposed_one_is_not() -> (
    None
):
    kept = KeptOutputs(DEVICE)
    kept_of(lambda number: torch.full((2, 1000), float(number))[:, :3], kept)
    assert [place[1:] for place in kept.places] == [(3, 1)] * 3
    kept_of(lambda number: torch.full((3, 2), float(number)).t(), kept)
    assert [place[1:] for place in kept.places] == [(1, 2)] * 3


def test_the_form_of_an_output_is_told_as_ever() -> None:
    with pytest.raises(WrongOutput, match="has the shape"):
        kept_of(lambda number: torch.empty(3, 2), KeptOutputs(DEVICE))


class _Sealing:
    """Runs a block at once."""

    def run(
        self, _page: object, _inputs: object, produce: Callable[[], list[torch.Tensor]], _: object
    ) -> None:
        self.digested = [output.clone() for output in produce()]


def sealed_of(forward: Callable[[int], torch.Tensor], kept: KeptOutputs) -> list[torch.Tensor]:
    """What a digest is made of."""
    targets, sealing = [[torch.empty(2, 3)] for _ in range(3)], _Sealing()
    sink: Any = OutputSink(DEVICE, targets, inputs=(0, 0))
    unused: Any = None
    call_sealed(
        forward, range(3), sink, sealing=cast("Any", sealing), page=unused, inputs=unused, held=kept
    )
    assert all(map(torch.equal, sealing.digested, (target for [target] in targets)))
    return sealing.digested


def test_memory_that_is_returned_in_turn_is_told_in_a_sealed_block_and_copied_in_the_next() -> None:
    ring = [torch.empty(2, 3), torch.empty(2, 3)]
    kept = KeptOutputs(DEVICE)

    def forward(number: int) -> torch.Tensor:
        return ring[number % 2].fill_(number)

    with pytest.raises(Told) as told:
        sealed_of(forward, kept)
    assert told.value.kind == "again"
    assert all(map(torch.equal, sealed_of(forward, kept), filled(3)))


class _SealingDevice(CpuWorkerDevice):
    """Times calls, and keeps what they returned."""

    sealing: Any = _Sealing()

    def timed_calls(self, call: Callable[[Any], Any], calls: Sequence[Any], **named: Any) -> Any:
        self.returned = [transport.flatten_outputs(call(arguments))[0] for arguments in calls]
        return super().timed_calls(call, calls, **named)


@pytest.mark.parametrize("poison", [True, False])
@pytest.mark.parametrize(
    ("form", "is_copied"), [("ring", True), ("strides", True), ("its own", False)]
)
def test_what_a_sealed_block_copies_is_copied_in_the_calls_that_events_time(
    form: str, is_copied: bool, poison: bool
) -> None:
    device, one = _SealingDevice(), torch.empty(2, 3)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "ring": lambda: one,
        "strides": lambda: torch.empty(3, 2).t(),
        "its own": lambda: torch.empty(2, 3),
    }
    returned: list[torch.Tensor] = []

    def forward(_: torch.Tensor) -> torch.Tensor:
        returned.append(forms[form]())
        return returned[-1]

    handout = Handout.of(device, [[torch.ones(2, 3)]] * 2, [torch.empty(2, 3)])
    run = Run(
        input_region=handout.input_spec,
        output_region=handout.output_spec,
        inputs=handout.trees,
        outputs=handout.specs,
        poison=True,
        dry=False,
    )
    candidate, descriptors = Candidate(device), handout.descriptors()
    candidate._model = cast("Any", forward)
    candidate.run(run, *descriptors)
    candidate.run(replace(run, poison=poison), *descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    [timed] = {any(value is own for own in returned) for value in device.returned}
    assert timed is not (is_copied and not poison)


def test_outputs_of_a_sealed_block_are_not_copied_where_each_has_memory_of_its_own() -> None:
    kept = KeptOutputs(DEVICE)
    made: list[torch.Tensor] = []

    def forward(number: int) -> torch.Tensor:
        made.append(torch.full((2, 3), float(number)))
        return made[-1]

    assert all(map(torch.equal, sealed_of(forward, kept), filled(3)))
    assert not kept.copies
