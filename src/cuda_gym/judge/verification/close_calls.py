"""Whole numbers that come of rounding: which of them would be others if the last bits before had come out otherwise?

Only equality passes for a whole number. But whether 2.4999998 or 2.5000002 is rounded depends on how a kernel divides:
`x * (1 / s)` for `x / s` misses one in some hundred thousand, and is right. So the reference runs a few times more, in
its own dtype, on inputs that differ by a few units in their last place. Where an output then changes by one, both pass.

Covered: numbers that are computed from floating inputs; comparisons, whose outcome is true or false. Not covered: a
number that rests on constants and parameters alone; what changes by more, or in many places, stays exact, since
that is no rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.errors import TaskError
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["CloseCalls", "find_close_calls"]

_RUNS: Final = 8
_MOST_UNITS: Final = 8.0
"""Half of what is between two neighbours, times this. A quotient by way of a reciprocal is off by three."""
_MOST_SHARE: Final = 0.01
"""Of an output. Eight units of float32 move one in some ten thousand of numbers below a hundred."""


@dataclass(frozen=True, kw_only=True)
class CloseCalls:
    """Elements of one output that may be another number."""

    places: Tensor
    """Flat, ascending."""
    values: Tensor
    """What each may be, too; one off."""

    def beside(self, expected: Tensor, start: int) -> Tensor:
        """A piece of what is expected, in its own shape, with the other numbers in their places.

        Args:
            expected: The piece; stays as it is.
            start: Its first element in the whole output.
        """
        inside = (self.places >= start) & (self.places < start + expected.numel())
        other = expected.flatten().clone()
        other[self.places[inside] - start] = self.values[inside]
        return other.view(expected.shape)


def find_close_calls(
    reference: ReferenceModule,
    model: nn.Module,
    inputs: Sequence[Any],
    expected: Sequence[Tensor | None],
) -> list[CloseCalls | None]:
    """Of each output, where there are any.

    Args:
        reference: The task.
        model: With the parameters of this judgement.
        inputs: Of its forward.
        expected: What it has to be; None of outputs that are not asked about.
    """
    moves = any(x.is_floating_point() for x in tensors_in(list(inputs)))
    ends = {
        n: (value, value)
        for n, value in enumerate(expected)
        if moves and value is not None and not value.is_complex()
    }
    try:
        for run in range(_RUNS) if ends else ():
            outputs = reference.run(model, _moved(inputs, run))
            for number, (lowest, highest) in list(ends.items()):
                output = outputs[number]
                if output.shape != lowest.shape:  # there are as many as the inputs have it
                    del ends[number]
                    continue
                ends[number] = torch.minimum(lowest, output), torch.maximum(highest, output)
    except TaskError:  # it does not bear inputs that it was not made for
        ends.clear()
    return [
        _calls(value, *ends[number]) if value is not None and number in ends else None
        for number, value in enumerate(expected)
    ]


def _calls(expected: Tensor, lowest: Tensor, highest: Tensor) -> CloseCalls | None:
    places = (lowest != highest).flatten().nonzero().flatten()
    if not 0 < len(places) <= max(1.0, _MOST_SHARE * expected.numel()):
        return None
    low, high, own = (x.flatten()[places] for x in (lowest, highest, expected))
    by_one = high.to(torch.int64) - low.to(torch.int64) == 1
    values = torch.where(low == own, high, low)
    return CloseCalls(places=places[by_one], values=values[by_one])


def _moved(inputs: Sequence[Any], run: int) -> Any:
    """The inputs, each element moved by a few units in its last place, and none beyond the largest or smallest."""
    return map_tensors(list(inputs), lambda x: _nearby(x, run) if x.is_floating_point() else x)


def _nearby(tensor: Tensor, seed: int) -> Tensor:
    if not tensor.numel():
        return tensor
    generator = torch.Generator(tensor.device).manual_seed(seed)
    work = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    half_unit = torch.finfo(tensor.dtype).eps / 2
    factors = torch.empty(tensor.shape, dtype=work, device=tensor.device)
    factors.uniform_(-_MOST_UNITS, _MOST_UNITS, generator=generator).mul_(half_unit).add_(1.0)
    moved = factors.mul_(tensor).to(tensor.dtype)
    least, most = tensor.aminmax()
    return moved if bool(least.isnan()) else moved.clamp_(least, most)
