"""Inputs that a reference handed out, and the room where their outputs are to come back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.protocol import TensorSpec, Tree


@dataclass(frozen=True, kw_only=True)
class Handout:
    """Some calls: sealed inputs, and an output region of fixed size. Owns both descriptors."""

    trees: tuple[Tree, ...]
    """The arguments of each call."""
    specs: tuple[tuple[TensorSpec, ...], ...]
    """Where the outputs of each call go."""
    inputs: int
    outputs: int
    input_bytes: int
    output_bytes: int

    @classmethod
    def of(
        cls,
        batches: Sequence[Sequence[Any]],
        outputs: Sequence[torch.Tensor],
        *,
        earlier: Handout | None = None,
    ) -> Handout:
        """Put the arguments of each call into a region, each object once.

        Args:
            batches: positional arguments of each call; equal objects share their place.
            outputs: tensors of the form that each call returns.
            earlier: is closed; where its output region has the right size it is used again.
        """
        layout, room = transport.Layout(), transport.Layout()
        parts: list[tuple[TensorSpec, torch.Tensor]] = []
        encoded = {id(b): transport.encode_tree(list(b), layout, parts) for b in batches}
        room_again = None
        if earlier is not None:
            if earlier.output_bytes == room.num_bytes:
                room_again = os.dup(earlier.outputs)
            earlier.close()
        return cls(
            trees=tuple(encoded[id(batch)] for batch in batches),
            specs=tuple(tuple(room.place(tensor) for tensor in outputs) for _ in batches),
            inputs=transport.create_input_region(layout.num_bytes, parts),
            outputs=room_again or transport.create_output_region(room.num_bytes),
            input_bytes=layout.num_bytes,
            output_bytes=room.num_bytes,
        )

    def as_plain(self) -> dict[str, Any]:
        """What the candidate needs to know of it."""
        return {
            "inputs": list(self.trees),
            "outputs": [[asdict(spec) for spec in call] for call in self.specs],
            "content_bytes": (self.input_bytes + self.output_bytes) // len(self.trees),
        }

    def descriptors(self) -> tuple[int, int]:
        """Duplicates of both descriptors, for somebody else to own."""
        return os.dup(self.inputs), os.dup(self.outputs)

    def calls(self, count: int | None = None) -> list[Any]:
        """The arguments of the first calls, as views of the region."""
        region = transport.map_region(self.inputs)
        return [transport.decode_tree(tree, region) for tree in self.trees[:count]]

    def delivered(self, count: int | None = None) -> list[list[torch.Tensor]]:
        """Private copies of what a candidate wrote."""
        region = transport.map_region(self.outputs, shared=True)
        return [
            [transport.tensor_in(region, spec).clone() for spec in call]
            for call in self.specs[:count]
        ]

    def close(self) -> None:
        """Let go of both regions."""
        os.close(self.inputs)
        os.close(self.outputs)
