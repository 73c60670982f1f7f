"""Hidden draws of a task, under weights that move: made ahead where memory bears that, or when they are asked for.

Covered: a draw of other weights is never taken for one of these. Not covered: which draws there are to be
(`draw_plan`), and how they are handed out (`exchange`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from cuda_gym.judge.sandbox.task_memory import TaskMemory
from cuda_gym.judge.verification.admission import Admission
from cuda_gym.judge.verification.inputs import DrawKind, draw_inputs, perturbed_state
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

__all__ = ["DrawStock", "MovingWeights"]

_MOST_ATTEMPTS = 4
"""Admission has seen that eager meets ordinary draws, so few are missed."""


class MovingWeights:
    """The weights of a model; each seed moves them from where they were at first."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self.seed = 0
        """Of the latest move."""
        self._initial = {name: t.clone() for name, t in model.state_dict().items()}

    def move(self, seed: int) -> dict[str, torch.Tensor]:
        """Move them; the new ones."""
        self.model.load_state_dict(self._initial)
        state = perturbed_state(self.model, seed)
        self.model.load_state_dict(state)
        self.seed = seed
        return state


class DrawStock:
    """Draws with what is expected of them.

    Args:
        reference: The task.
        weights: Of its model.
        admission: How the task is judged.
        memory: What it may take.
    """

    def __init__(
        self,
        reference: ReferenceModule,
        weights: MovingWeights,
        admission: Admission,
        memory: TaskMemory,
    ) -> None:
        self._reference = reference
        self._weights = weights
        self._admission = admission
        self._memory = memory
        self._made: dict[tuple[int, str, int], Trial] = {}
        """By the seed of the weights, kind and seed."""

    def prepare(self, draws: Sequence[Mapping[str, Any]]) -> int:
        """Make draws ahead in place of those of before, as many as memory bears; how many.

        Args:
            draws: `weights` and `seed`, two seeds, and `kind`, in the order in which they will be used.
        """
        self._made.clear()
        for planned in draws[: self._memory.most_ahead()]:
            if planned["weights"] != self._weights.seed:
                self._weights.move(planned["weights"])
            key = (planned["weights"], planned["kind"], planned["seed"])
            self._made[key] = self.make(planned["kind"], planned["seed"])
        self._memory.end_phase()
        return len(self._made)

    def take(self, kind: str, seed: int) -> Trial | None:
        """Out of what was made ahead under the weights of now; None where it was not."""
        return self._made.pop((self._weights.seed, kind, seed), None)

    def make(self, kind: str, seed: int) -> Trial:
        """A draw under the weights of now; another one where eager itself misses what only equality meets.

        A whole number that comes of rounding a fraction depends on the last bit of that: a draw in which
        eager and gold decide otherwise says nothing of a submission.

        Raises:
            TaskError: the reference fails on it.
            MachineError: memory does not suffice.
        """
        for attempt in range(_MOST_ATTEMPTS):
            trial = self._trial(kind, seed + attempt)
            if all(output.is_met_by_eager for output in trial.expected):
                return trial
            del trial  # before memory is taken for the next one
        return self._trial(kind, seed + _MOST_ATTEMPTS)

    def clear(self) -> None:
        """Let go of what was made ahead."""
        self._made.clear()

    def _trial(self, kind: str, seed: int) -> Trial:
        draw = draw_inputs(self._reference, DrawKind(kind), seed, self._admission.free_dimensions)
        return Trial.of(
            self._reference,
            self._weights.model,
            draw,
            self._admission.indices,
            gold_chunks=self._admission.gold_chunks,
            keeps_eager=False,
        )
