"""Whole numbers that come of rounding: which of them would be others if the last bits before had come out otherwise?

Only equality passes for a whole number. But whether 2.4999998 or 2.5000002 is rounded depends on how a kernel divides:
`x * (1 / s)` for `x / s` misses one in some hundred thousand, and is right. So the reference runs a few times more, in
its own dtype, on inputs that differ by a few units in their last place. Where an output then changes by one, both pass.

First all elements of an input go as far as they may, up or down: no function of single elements changes by more. Where
elements of one input are set against each other, as beside the largest of a row, that cancels out; so then each goes a way
of its own, and the same way back, until that finds nothing more.

Covered: numbers that are computed from floating inputs; comparisons, whose outcome is true or false. Not covered: a
number that rests on constants and parameters alone, or on inputs that are whole numbers themselves, where a tie is no
accident; what changes by more, or in many places, stays exact, since that is no rounding; unsigned numbers of more than 8
bits, which torch cannot order; outputs of 2 billion elements or more.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.errors import TaskError
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["CloseCalls", "find_close_calls"]

_MOST_PAIRS: Final = 16
"""Of runs in which each element goes a way of its own."""
_QUIET_PAIRS: Final = 3
"""So many that find nothing new are the last. Each finds two in three of those that are three units off and depend on two
elements."""
_SIGNED_APART: Final = 3
"""So many inputs go up and down in every combination."""
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
    meets_eager: bool = True
    """Whether eager gives what is expected, or these numbers, where it rounds otherwise than gold."""

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
    ends = {
        n: _Ends.of(value)
        for n, value in enumerate(expected)
        if value is not None and value.dtype in _ORDERED and value.numel() <= _MOST_NUMBERS
    }
    moves = [_is_moved(x) for x in tensors_in(list(inputs))] if ends else []
    try:
        for ways in _each_way(sum(moves), ends.values()):
            outputs = reference.run(model, ways.moved(inputs, moves))
            for number in list(ends):
                if not ends[number].widen(outputs[number]):
                    del ends[number]
            if not ends:
                break
    except TaskError:  # it does not bear inputs that it was not made for
        ends.clear()
    return [ends[n].calls() if n in ends else None for n in range(len(expected))]


@dataclass(kw_only=True)
class _Ends:
    """The least and the largest that each element of an output came out as."""

    own: Tensor
    """What is expected."""
    lowest: Tensor
    highest: Tensor
    num_changed: int = 0
    """Elements that came out otherwise at least once."""
    missed: Tensor | None = None
    """Flat places where the first run has not given what is expected."""

    @classmethod
    def of(cls, own: Tensor) -> _Ends:
        return cls(own=own, lowest=own, highest=own)

    def widen(self, output: Tensor) -> bool:
        """Look at another run; whether what changes may still be rounding."""
        if output.shape != self.own.shape:  # there are as many as the inputs have it
            return False
        self.lowest = torch.minimum(self.lowest, output)
        self.highest = torch.maximum(self.highest, output)
        self.num_changed = int((self.lowest != self.highest).count_nonzero())
        if self.num_changed > max(1.0, _MOST_SHARE * self.own.numel()):
            return False
        if self.missed is None:
            self.missed = self._changed()
        return True

    def calls(self) -> CloseCalls | None:
        """Those that have changed by one."""
        if not self.num_changed:
            return None
        places = self._changed()
        low, high, own = (x.flatten()[places] for x in (self.lowest, self.highest, self.own))
        by_one = high.to(torch.int64) - low.to(torch.int64) == 1
        values = torch.where(low == own, high, low)
        places, values = places[by_one], values[by_one]
        meets_eager = self.missed is None or bool(torch.isin(self.missed, places).all())
        return CloseCalls(places=places, values=values, meets_eager=meets_eager)

    def _changed(self) -> Tensor:
        return (self.lowest != self.highest).flatten().nonzero().flatten()


@dataclass(frozen=True, kw_only=True)
class _Ways:
    """How far each element of the inputs goes in one run."""

    signs: Sequence[int]
    """Of the inputs that move, in turn; 0 where none does."""
    seed: int | None = None
    """Gives each element a way of its own; where there is none, all go as far as they may."""

    def moved(self, inputs: Sequence[Any], moves: Sequence[bool]) -> Any:
        """The inputs, none of their elements beyond the largest or smallest.

        Args:
            inputs: Of a forward.
            moves: Which of their tensors move.
        """
        each, numbers = iter(moves), itertools.count()
        return map_tensors(
            list(inputs), lambda x: self._nearby(x, next(numbers)) if next(each) else x
        )

    def _nearby(self, tensor: Tensor, number: int) -> Tensor:
        work = torch.float64 if tensor.dtype == torch.float64 else torch.float32
        half_unit = torch.finfo(tensor.dtype).eps / 2
        furthest = self.signs[number % len(self.signs)] * _MOST_UNITS * half_unit
        if self.seed is None:
            moved = tensor.to(work).mul(1.0 + furthest).to(tensor.dtype)
        else:
            generator = torch.Generator(tensor.device).manual_seed(self.seed + number)
            factors = torch.empty(tensor.shape, dtype=work, device=tensor.device)
            factors.uniform_(-1.0, 1.0, generator=generator).mul_(furthest).add_(1.0)
            moved = factors.mul_(tensor).to(tensor.dtype)
        least, most = tensor.aminmax()
        return moved if bool(least.isnan()) else moved.clamp_(least, most)


def _each_way(num_moved: int, ends: Collection[_Ends]) -> Iterator[_Ways]:
    """None; all together in every combination; then each alone, for as long as that changes more elements."""
    if not num_moved:
        return
    yield _Ways(signs=(0,))
    for signs in itertools.product((1, -1), repeat=min(num_moved, _SIGNED_APART)):
        yield _Ways(signs=signs)
    num_quiet = 0
    for pair in range(_MOST_PAIRS):
        before = sum(end.num_changed for end in ends)
        for sign in (1, -1):
            yield _Ways(signs=(sign,), seed=pair * _MOST_INPUTS)
        num_quiet = 0 if sum(end.num_changed for end in ends) > before else num_quiet + 1
        if num_quiet == _QUIET_PAIRS:
            return


def _is_moved(tensor: Tensor) -> bool:
    """Whether it holds fractions, of which the last bits are nobody's."""
    return tensor.dtype in _MOVED and not bool((tensor == tensor.round()).all())


_MOVED: Final = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_ORDERED: Final = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_MOST_NUMBERS: Final = (1 << 31) - 1
"""Torch's `nonzero` takes no more on a GPU."""
_MOST_INPUTS: Final = 1 << 16
"""Between the seeds of two runs."""
