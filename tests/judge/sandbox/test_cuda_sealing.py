"""Sealed blocks: nothing can be read before the gate opens, and what is summed up was there."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.judge.sandbox.sealing_on_the_host import Stream, sealing_on_the_host

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing
from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.sealed_page import SealedPage, Witnessed, end_sealed, new_key
from cuda_gym.judge.toolchains.cuda import CudaToolchain

COUNT = 1 << 20
SPEC = TensorSpec(dtype="float32", shape=(COUNT,), offset=0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_a_block_runs_when_its_gate_opens_and_not_before() -> None:
    device = torch.device("cuda:0")
    torch.zeros(1, device=device)
    sealing = CudaSealing(Path(CudaToolchain(Device.parse("cuda:0")).own_kernels()), device)
    inputs, outputs = CudaRegion.create(4 * COUNT, 0), CudaRegion.create(4 * COUNT, 0)
    values, key = torch.randn(COUNT, device=device), new_key()
    for spec, part in sealing.sealed([(SPEC, values)], key):
        inputs.tensor(spec).copy_(part)
    outputs.flat().zero_()
    torch.cuda.synchronize()
    sealed = inputs.tensor(SPEC).clone()
    assert not torch.any(sealed == values)
    page, seen = SealedPage.create(num_outputs=1), list[Witnessed]()
    witness = threading.Thread(
        target=lambda: seen.append(page.witness(key, queue_s=5.0, most_s=5.0))
    )
    result = outputs.tensor(SPEC)
    torch.mul(
        values, 2.0, out=torch.empty_like(values)
    )  # loaded: what waits cannot be loaded behind a gate
    done: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def produce() -> list[torch.Tensor]:
        torch.mul(inputs.tensor(SPEC), 2.0, out=result)
        done.record()
        time.sleep(0.05)
        assert not done.query()
        return [result]

    sealing.run(
        SealedPage.open(page.export()), inputs, produce, [4 * COUNT], when_queued=witness.start
    )
    witness.join()
    assert torch.equal(result, values * 2.0)
    assert torch.equal(inputs.tensor(SPEC), values)
    [one] = seen
    assert one.was_queued
    assert one.digest == sealing.digest_of([result])
    assert 0.0 < one.wall_us < 20_000.0
    result[12345] += 1.0
    assert one.digest != sealing.digest_of([result])
    page.close()


FORMS = [
    torch.randn(1000),
    torch.randn(7, 5).half().t(),
    torch.tensor(3.5),
    torch.empty(0, 3),
    torch.rand(33) > 0.5,
    torch.randn(5, dtype=torch.complex64),
    torch.arange(9),
    torch.randn(3).bfloat16(),
    torch.randint(0, 256, (13,), dtype=torch.uint8),
]
SIZES = [form.numel() * form.element_size() for form in FORMS]


@dataclass(frozen=True)
class HostRoom:
    """As a region of the device."""

    memory: torch.Tensor

    @property
    def address(self) -> int:
        return self.memory.data_ptr()

    @property
    def num_bytes(self) -> int:
        return self.memory.numel()

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        return transport.tensor_at(self.memory, spec)


@pytest.fixture(scope="module")
def host() -> Iterator[tuple[CudaSealing, Stream]]:
    with sealing_on_the_host() as both:
        yield both


def sealed_room(sealing: CudaSealing, key: int) -> tuple[HostRoom, list[TensorSpec]]:
    layout = transport.Layout(512)
    specs = [layout.place(form) for form in FORMS]
    room = HostRoom(torch.zeros(layout.num_bytes, dtype=torch.uint8))
    for spec, part in sealing.sealed(zip(specs, FORMS, strict=True), key):
        room.tensor(spec).copy_(part)
    return room, specs


def same(ours: Sequence[torch.Tensor]) -> list[bool]:
    return [torch.equal(one, form) for one, form in zip(ours, FORMS, strict=True)]


def witnessed(
    host: tuple[CudaSealing, Stream],
    room: HostRoom,
    produce: Callable[[], Sequence[torch.Tensor]],
    *,
    key: int,
    queue_s: float = 30.0,
) -> Witnessed:
    """A block behind a gate, as it is seen at the other end of its page."""
    page, seen = SealedPage.create(num_outputs=len(FORMS)), list[Witnessed]()
    witness = threading.Thread(
        target=lambda: seen.append(page.witness(key, queue_s=queue_s, most_s=30.0, begin_s=30.0))
    )
    witness.start()
    descriptor = page.export()
    theirs = SealedPage.open(descriptor)
    try:
        host[0].run(theirs, room, produce, SIZES)
    finally:
        end_sealed(descriptor)
        witness.join()
        os.close(descriptor)
        page.close()
    return seen[0]


def test_inputs_of_every_form_are_opened_by_their_key_and_by_no_other(
    host: tuple[CudaSealing, Stream],
) -> None:
    sealing, stream = host
    key = new_key()
    for mine in (key, key ^ 1):
        room, specs = sealed_room(sealing, key)
        assert same([room.tensor(spec) for spec in specs]) == [size == 0 for size in SIZES]
        outputs = [torch.empty(form.shape, dtype=form.dtype) for form in FORMS]
        pairs = [(one, room.tensor(spec)) for one, spec in zip(outputs, specs, strict=True)]

        def produce(
            outputs: list[torch.Tensor] = outputs,
            pairs: list[tuple[torch.Tensor, torch.Tensor]] = pairs,
        ) -> list[torch.Tensor]:
            stream.give(lambda: [output.copy_(given) for output, given in pairs])
            return outputs

        seen = witnessed(host, room, produce, key=mine)
        assert seen.was_queued
        assert seen.digest == sealing.digest_of(outputs)
        assert same(outputs) == [mine == key or size == 0 for size in SIZES]


def test_a_block_that_cannot_be_queued_is_over_at_both_ends(
    host: tuple[CudaSealing, Stream],
) -> None:
    room, _ = sealed_room(host[0], 1)

    def produce() -> list[torch.Tensor]:
        raise ValueError("of a submission")

    with pytest.raises(ValueError, match="of a submission"):
        witnessed(host, room, produce, key=1)


def test_a_block_that_waits_for_itself_goes_on_when_its_time_is_over(
    host: tuple[CudaSealing, Stream],
) -> None:
    sealing, stream = host
    room, _ = sealed_room(sealing, 1)

    def produce() -> Sequence[torch.Tensor]:
        stream.wait()
        return [form.contiguous() for form in FORMS]

    seen = witnessed(host, room, produce, key=1, queue_s=0.0)
    assert not seen.was_queued
    assert seen.digest == sealing.digest_of([form.contiguous() for form in FORMS])


def test_a_digest_is_of_bytes_and_their_order_and_not_of_their_place(
    host: tuple[CudaSealing, Stream],
) -> None:
    sealing, _ = host
    one, other = torch.randint(0, 256, (2, 70_001), dtype=torch.uint8)
    digest = sealing.digest_of([one, other])
    for start in (0, 1, 4, 16):
        room = torch.empty(len(one) + start, dtype=torch.uint8)
        assert sealing.digest_of([room[start:].copy_(one), other]) == digest
    assert sealing.digest_of([other, one]) != digest
    assert sealing.digest_of([torch.cat([one, other])]) != digest
    for place in (0, 65_535, 65_536, 70_000):
        changed = one.clone()
        changed[place] ^= 1
        assert sealing.digest_of([changed, other]) != digest
