"""Inputs that a reference handed out, and the room where their outputs are to come back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.cuda_comparing import CudaComparing
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.memfd_regions import MemfdRegion
from cuda_gym.judge.sandbox.messages import (
    RegionSpec,
    TensorSpec,
    Tree,
)
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["Handout", "region_spec"]

_numbers = itertools.count(1)
_COMPARED = 1 << 28
"""Bytes of an input that are compared at once."""


@dataclass(frozen=True, kw_only=True)
class Handout:
    """Some calls: their inputs in one region, and an output region of fixed size."""

    trees: tuple[Tree, ...]
    """The arguments of each call."""
    specs: tuple[tuple[TensorSpec, ...], ...]
    """Where the outputs of each call go."""
    inputs: Region
    outputs: Region
    input_spec: RegionSpec
    output_spec: RegionSpec
    input_bytes: int
    output_bytes: int
    originals: Sequence[Sequence[Any]] | None
    """The arguments themselves, where what was handed out is not sealed, or not on the device."""
    parts: Sequence[tuple[TensorSpec, torch.Tensor]]
    """Their tensors, each with its place, where somebody may have written there."""

    @classmethod
    def of(
        cls,
        device: WorkerDevice,
        batches: Sequence[Sequence[Any]],
        outputs: Sequence[torch.Tensor],
        *,
        earlier: Handout | None = None,
        key: int | None = None,
    ) -> Handout:
        """Put the arguments of each call into a region, each object once.

        Args:
            device: Where they lie.
            batches: positional arguments of each call; equal objects share their place.
            outputs: tensors of the form that each call returns.
            earlier: nobody needs it any more; its regions are used again where they are large enough, since
                a driver may be busy with others when it is to make one.
            key: seals the inputs, on a device that seals.
        """
        layout, room = transport.Layout(device.alignment), transport.Layout(device.alignment)
        parts: list[tuple[TensorSpec, torch.Tensor]] = []
        distinct = {id(batch): list(batch) for batch in batches}
        encoded = {n: transport.encode_tree(b, layout, parts) for n, b in distinct.items()}
        specs = tuple(tuple(room.place(tensor) for tensor in outputs) for _ in batches)
        again = None if earlier is None else earlier.inputs
        if key is not None and again is not None and again.num_bytes != layout.num_bytes:
            again = None  # all of a sealed region is opened under our clock
        laid: Iterable[tuple[TensorSpec, torch.Tensor]] = parts
        if key is not None and device.sealing is not None:
            laid = device.sealing.sealed(parts, key)
        inputs = device.create_inputs(layout.num_bytes, laid, again)
        is_open = device.keeps_originals and not isinstance(inputs, MemfdRegion)  # which is sealed
        if earlier is not None and earlier.outputs.num_bytes >= room.num_bytes:
            returned, output_spec = earlier.outputs, earlier.output_spec
        else:
            returned = device.create_outputs(room.num_bytes)
            output_spec = region_spec(returned)
        return cls(
            trees=tuple(encoded[id(batch)] for batch in batches),
            specs=specs,
            inputs=inputs,
            outputs=returned,
            input_spec=earlier.input_spec if earlier and inputs is again else region_spec(inputs),
            output_spec=output_spec,
            input_bytes=layout.num_bytes,
            output_bytes=room.num_bytes,
            originals=tuple(batches) if device.keeps_originals else None,
            parts=parts if is_open else (),
        )

    def emptied(self) -> Handout:
        """Its regions alone, to be used again: no call of it is made, and no input compared, any more."""
        return self if self.originals is None else replace(self, originals=(), parts=())

    def as_plain(self) -> dict[str, Any]:
        """What the candidate needs to know of it."""
        return {
            "input_region": asdict(self.input_spec),
            "output_region": asdict(self.output_spec),
            "inputs": list(self.trees),
            "outputs": [[transport.plain_spec(spec) for spec in call] for call in self.specs],
            "content_bytes": (self.input_bytes + self.output_bytes) // len(self.trees),
        }

    def descriptors(self) -> tuple[int, int]:
        """Of both regions, for somebody else to own."""
        return self.inputs.export(), self.outputs.export()

    def call(self, number: int) -> Any:
        """The arguments of one call: as they lie in a sealed region, or as they were kept."""
        if self.originals is not None:
            return self.originals[number]
        return transport.decode_tree(self.trees[number], self.inputs)

    def delivered(self, first: int = 0, stop: int | None = None) -> Iterator[list[torch.Tensor]]:
        """Private copies of what a candidate wrote for each of some calls."""
        for call in self.specs[first:stop]:
            yield [self.outputs.tensor(spec).clone() for spec in call]

    def lying(self, place: int, number: int) -> torch.Tensor:
        """One output of a call where it came back: others may still write there."""
        return self.outputs.tensor(self.specs[number][place])

    def delivered_together(self, place: int, numbers: Sequence[int]) -> torch.Tensor:
        """One output of several calls, one beside the other: a private copy, or of a single call what lies there."""
        written = [self.lying(place, number) for number in numbers]
        return torch.stack(written) if len(written) > 1 else written[0].unsqueeze(0)

    def returned(self) -> list[torch.Tensor]:
        """What was written for all calls, as it lies there."""
        return [self.outputs.tensor(spec) for call in self.specs for spec in call]

    def changed_input(self, comparing: CudaComparing | None = None) -> tuple[int, int] | None:
        """Which input of a call is no longer what was handed out, and in how many elements.

        None where it is, or where nobody can have changed it.

        Args:
            comparing: Of the device, where it has that.
        """
        if self._is_unchanged(comparing):
            return None
        for tree, original in zip(self.trees, self.originals or (), strict=True):
            now = transport.flatten_outputs(transport.decode_tree(tree, self.inputs))
            before = transport.flatten_outputs(list(original))
            for number, (mine, theirs) in enumerate(zip(before, now, strict=True)):
                if isinstance(mine, torch.Tensor):
                    changed = _num_changed(mine.detach(), theirs)
                    if changed:
                        return number, changed
        return None

    def _is_unchanged(self, comparing: CudaComparing | None) -> bool:
        """With one wait for the device, however many tensors there are that need not be copied for it."""
        if comparing is not None and self.parts and isinstance(self.inputs, CudaRegion):
            # No variable holds a copy while the next one is made.
            return not any(
                comparing.differ(
                    [
                        (transport.in_a_row(tensor.detach()), self.inputs.tensor(spec))
                        for spec, tensor in parts
                    ]
                )
                for parts in _in_turn(self.parts)
            )
        differs = [
            (before != now).any()
            for spec, tensor in self.parts
            for before, now in _words(tensor.detach(), self.inputs.tensor(spec))
        ]
        return not differs or not bool(torch.stack(differs).any())


def _in_turn(
    parts: Sequence[tuple[TensorSpec, torch.Tensor]],
) -> Iterator[Sequence[tuple[TensorSpec, torch.Tensor]]]:
    """All tensors that lie in a row; then each of the others."""
    yield [part for part in parts if part[1].is_contiguous()]
    yield from ([part] for part in parts if not part[1].is_contiguous())


def region_spec(region: Region) -> RegionSpec:
    """A new name for a region of this process."""
    return RegionSpec(number=next(_numbers), num_bytes=region.num_bytes)


def _num_changed(before: torch.Tensor, now: torch.Tensor) -> int:
    """Elements with other bits; in pieces, for what is compared takes as much memory again."""
    if not before.numel():
        return 0
    most = _COMPARED // before.element_size()
    ours, theirs = (torch.split(_bits(tensor), most) for tensor in (before, now))
    return sum(
        0 if torch.equal(mine, other) else int((mine != other).any(-1).sum())
        for mine, other in zip(ours, theirs, strict=True)
    )


def _words(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Pieces of tensors of one form, as numbers without a meaning: as large ones as they can be read in."""
    flat = [transport.in_a_row(tensor) for tensor in tensors]
    ends = (n * t.element_size() for t in flat for n in (t.numel(), t.storage_offset()))
    word = torch.uint8 if any(end % torch.int64.itemsize for end in ends) else torch.int64
    pieces = (torch.split(t.view(word), _COMPARED // word.itemsize) for t in flat)
    return zip(*pieces, strict=True)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of each element."""
    return transport.in_a_row(tensor).view(torch.uint8).view(-1, tensor.element_size())
