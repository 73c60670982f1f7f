"""What a reference hands out to a candidate: the calls of a draw or of a block, and what comes back for them.

One at a time. What is handed out takes the place of what was before, in the same regions where it fits.

Covered: inputs that a candidate has changed. Not covered: what the outputs of a block are worth (`timed_contents`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from cuda_gym.core.findings import DrawFindings
from cuda_gym.errors import WrongOutput
from cuda_gym.judge.sandbox.draw_stock import DrawStock
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.messages import Tree
from cuda_gym.judge.sandbox.outputs import changed_input
from cuda_gym.judge.sandbox.sealed_gate import SealedGate
from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

__all__ = ["Answer", "Exchange"]

Answer = tuple[Tree, tuple[int, ...]]
"""A value, and descriptors to be sent with it (and closed here afterwards)."""


class Exchange:
    """Of one reference with one candidate after the other.

    Args:
        device: Where all of it lies.
        stock: Of draws.
        memory: What the task may take.
    """

    def __init__(self, device: WorkerDevice, stock: DrawStock, memory: TaskMemory) -> None:
        self._device = device
        self._stock = stock
        self._memory = memory
        self._trial: Trial | None = None
        self._handout: Handout | None = None
        self.gate: SealedGate | None = None
        """Of what is handed out, where it is sealed."""

    @property
    def trial(self) -> Trial:
        """The latest draw."""
        assert self._trial is not None
        return self._trial

    @property
    def handout(self) -> Handout:
        """What is handed out."""
        assert self._handout is not None
        return self._handout

    def has_drawn(self, kind: DrawKind) -> bool:
        """Whether the latest draw is of this kind."""
        return self._trial is not None and self._trial.draw.kind is kind

    def hand_out_draw(self, kind: str, seed: int, *, repeats: int) -> None:
        """Hidden inputs of one kind, to be called `repeats` times."""
        self.gate = None
        self._trial = None
        self.let_go()
        if self._memory.is_large:  # nor does a candidate keep its regions, see `Candidate.run`
            self._handout = None
        made = self._stock.take(kind, seed)
        if made is None:
            self._memory.end_phase()
        self._trial = trial = made or self._stock.make(kind, seed)
        self._memory.end_phase()
        self._hand_out([trial.draw.inputs] * repeats, trial.eager)

    def hand_out_block(self, batches: Sequence[Sequence[Any]], *, gate: SealedGate | None) -> None:
        """The contents of a block, of the form of the latest draw.

        Args:
            batches: The arguments of each call.
            gate: Seals them; None where a candidate may read them at once.
        """
        self.gate = gate
        self._hand_out(batches, self.trial.eager)

    def answer(self) -> Answer:
        """What a candidate needs for what is handed out; the descriptors are for somebody else to own."""
        plain = {**self.handout.as_plain(), "description": self.trial.draw.description}
        return plain, self.handout.descriptors()

    def judge_draw(self) -> DrawFindings:
        """What a candidate delivered for the latest draw: findings of the worst repeat.

        Raises:
            WrongOutput: it has changed its inputs.
        """
        self.require_unchanged()
        # One copy at a time: a variable would hold the last while the next is made.
        findings = list(map(self.trial.judge, self.handout.delivered()))
        return min(findings, key=lambda f: (f.passed, -(f.error_ratio or 0.0)))

    def require_unchanged(self) -> None:
        """A candidate may write to its inputs, but not so that anybody else sees it.

        Raises:
            WrongOutput: it has.
        """
        changed = self._handout.changed_input(self._device.comparing) if self._handout else None
        if changed is not None:
            raise WrongOutput(changed_input(*changed))

    def let_go(self) -> None:
        """Of what was made for the calls; only their regions are used again."""
        if self._handout is not None:
            self._handout = self._handout.emptied()

    def let_go_of_values(self) -> None:
        """Of the latest draw: its form and its allowances are all that a race needs."""
        if self.trial.draw.inputs:
            self._trial = self.trial.emptied()
            self._memory.end_phase()

    def let_go_of_regions(self) -> None:
        """Use no region again: a candidate of before may still write there."""
        self._handout = None

    def clear(self) -> None:
        """Let go of everything."""
        self._handout = self._trial = self.gate = None

    def _hand_out(self, batches: Sequence[Sequence[Any]], outputs: Sequence[torch.Tensor]) -> None:
        key = None if self.gate is None else self.gate.key
        self._handout = Handout.of(self._device, batches, outputs, earlier=self._handout, key=key)
