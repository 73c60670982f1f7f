"""One hidden draw together with what the reference makes of it: all that a comparison needs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor, nn

from cuda_gym.core.findings import DrawFindings
from cuda_gym.judge.verification.allocation import memory_told
from cuda_gym.judge.verification.budget import Expected, expect, is_fit
from cuda_gym.judge.verification.close_calls import find_close_calls
from cuda_gym.judge.verification.correctness import compare, is_right
from cuda_gym.judge.verification.gold import GoldKind, IndexOutput, gold_outputs
from cuda_gym.judge.verification.inputs import Draw
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["Trial"]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A draw, the reference's answers to it, and how far off a submission may be."""

    draw: Draw
    eager: list[Tensor]
    """Flattened outputs in the task's dtype."""
    gold: GoldKind
    expected: list[Expected]
    given: Mapping[str, Tensor] = field(default_factory=dict)
    """The tensors that the reference computes from, by the names it gives them."""

    @classmethod
    def of(
        cls,
        reference: ReferenceModule,
        model: nn.Module,
        draw: Draw,
        indices: Sequence[IndexOutput] = (),
        *,
        gold_chunks: int = 1,
        keeps_eager: bool = True,
    ) -> Trial:
        """Run the reference on a draw, in its own dtype and as gold.

        Args:
            reference: The task.
            model: With the parameters of this judgement.
            draw: What it is run on.
            indices: Which outputs are positions, as admission found them.
            gold_chunks: Into how many pieces gold is cut.
            keeps_eager: Whether more than the form of eager's outputs is needed afterwards.

        Raises:
            BadTask: where the reference raises.
            NotAdmitted, MachineError: where memory does not suffice.
        """
        eager = reference.run(model, draw.inputs)
        with memory_told(reference.name, "its gold", reference.device):
            gold = gold_outputs(model, draw.inputs, eager, chunks=gold_chunks)
            expected = expect(gold, eager, draw, indices, keeps_eager=keeps_eager)
            asked = [output.value if output.rests_on_fractions else None for output in expected]
            close = find_close_calls(reference, model, draw.inputs, asked)
            expected = [one.with_close(c) for one, c in zip(expected, close, strict=True)]
        return cls(
            draw=draw,
            eager=eager,
            gold=gold.kind,
            expected=expected,
            given=_named(model, draw.inputs),
        )

    def judge(self, candidate: Sequence[Tensor]) -> DrawFindings:
        """Whether outputs are right on this draw."""
        return compare(candidate, self.expected, self.draw, self.given)

    def emptied(self) -> Trial:
        """What it says of any draw of its kind: forms and allowances, without inputs and values."""
        rules = (
            replace(
                output,
                value=output.value.to("meta"),
                close=None,
                least_allowed=None
                if output.least_allowed is None
                else output.least_allowed.to("meta"),
            )
            for output in self.expected
        )
        return replace(
            self,
            draw=replace(self.draw, inputs=[], spikes=()),
            eager=[output.to("meta") for output in self.eager],
            expected=list(rules),
            given={},
        )

    def accepts(self, candidate: Sequence[Tensor]) -> bool:
        """The same decision, without a look at what is wrong."""
        return is_right(candidate, self.expected, self.draw)

    @property
    def is_sound(self) -> bool:
        """Whether eager itself passes, with room to spare."""
        return is_fit(self.expected, self.draw.kind) and self.accepts(self.eager)

    @property
    def is_finite(self) -> bool:
        """Whether all of eager's outputs are finite."""
        return all(bool(x.isfinite().all()) for x in self.eager if x.is_floating_point())


def _named(model: nn.Module, inputs: Sequence[object]) -> dict[str, Tensor]:
    """Inputs by the names of forward's parameters, parameters of the model by their own."""
    names = [*inspect.signature(model.forward).parameters]
    names += [f"input {number}" for number in range(len(names), len(inputs))]
    given = {
        name: value for name, value in zip(names, inputs, strict=False) if isinstance(value, Tensor)
    }
    return {**given, **{name: p.detach() for name, p in model.named_parameters()}}
