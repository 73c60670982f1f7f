"""The trials of an admission, of which few are held at once where they are large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from torch import nn

from cuda_gym.judge.verification.gold import IndexOutput
from cuda_gym.judge.verification.inputs import Draw, DrawKind, FreeDimensions, draw_inputs
from cuda_gym.judge.verification.memory import held_bytes
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

__all__ = ["TrialMaker", "Trials"]

MOST_HELD: Final = 2**30
"""Bytes of all trials together that are kept for the next look at them."""


@dataclass(frozen=True, kw_only=True)
class TrialMaker:
    """How the trials of an admission are made: of each kind of draw always the same one."""

    reference: ReferenceModule
    model: nn.Module
    """With the parameters of all trials."""
    seed: int
    indices: tuple[IndexOutput, ...] = ()
    gold_chunks: int = 1
    free_dimensions: FreeDimensions = field(default_factory=dict)

    def draw(self, kind: DrawKind) -> Draw:
        """The inputs of one kind."""
        return draw_inputs(self.reference, kind, self.seed, self.free_dimensions)

    def trial(self, draw: Draw) -> Trial:
        """What belongs to a draw."""
        chunks = self.gold_chunks
        return Trial.of(self.reference, self.model, draw, self.indices, gold_chunks=chunks)


class Trials:
    """One trial for each kind of draw, in order; those that are not kept are made again.

    Almost every question is answered by the first trial, so that making one again is rare.
    """

    def __init__(self, maker: TrialMaker, *, most_held: int = MOST_HELD) -> None:
        self.kinds: list[DrawKind] = []
        self.eager_errors: dict[str, float] = {}
        """Kind of draw to eager's largest error."""
        self.maker = maker
        self._most_held = most_held
        self._held = 0
        self._kept: dict[DrawKind, Trial] = {}

    def add(self, trial: Trial) -> None:
        """Take in the trial of one more kind."""
        kind = trial.draw.kind
        self.kinds.append(kind)
        self.eager_errors[kind.value] = max(output.eager for output in trial.expected)
        num_bytes = held_bytes(trial.draw.inputs, trial.eager, [e.value for e in trial.expected])
        if self._held + num_bytes <= self._most_held:
            self._held += num_bytes
            self._kept[kind] = trial

    def __iter__(self) -> Iterator[Trial]:
        for kind in self.kinds:
            yield self._kept.get(kind) or self.maker.trial(self.maker.draw(kind))
