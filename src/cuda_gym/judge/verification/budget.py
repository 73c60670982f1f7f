"""How far off may an output be? The error budget, and what it allows on one draw.

The error of an output is measured in units of roundoff of a local scale: the root mean square of
what was expected in the element's row, or the element itself where that is larger. A submission
may err `multiple` times as much as eager PyTorch does in the task's dtype, plus `floor`, but never
more than `ceiling`; all three were chosen by measurement and are tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor

from cuda_gym.judge.verification.close_calls import CloseCalls
from cuda_gym.judge.verification.gold import Gold, GoldKind, IndexOutput, values_at
from cuda_gym.judge.verification.inputs import Draw, DrawKind
from cuda_gym.judge.verification.local_scale import finite_size, group_scales, group_width
from cuda_gym.judge.verification.slices import Piece, most_elements, pieces_of

__all__ = ["Budget", "Expected", "expect", "is_fit"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How far off an output may be, in units of roundoff (half an epsilon) of the local scale.

    Measured for float32 with K = 4096, the largest of thousands of outputs: eager's sums 3 to 8, its
    matmuls 5 to 20; sums and matmuls by one thread in sequence 50 to 140, and 400 where all terms
    are nearly equal, so that rounding is biased; TF32 or float16 inputs 13,000 to 24,000 wherever
    signs are mixed (200 to 400 where all are positive: hence the signed and spiky draws); tanh
    instead of erf in GELU 3,000 to 14,000. Far from zero, by 100 or 345 spreads: a sequential
    Welford variance 560 where eager, which sums in double, errs by 1; a variance by subtraction
    27,000 to 560,000 after a layer norm where eager errs by 200 to 700.
    """

    multiple: float
    """Of eager's own largest error: honest kernels sum in another order."""
    floor: float
    """What is forgiven even where eager happens to be exact."""
    ceiling: float
    """Never more than this, however bad eager is: above it lower precision would hide."""

    @classmethod
    def of(cls, dtype: torch.dtype, kind: DrawKind) -> Budget:
        """The budget for outputs of a dtype on a kind of draw."""
        if dtype in (torch.float16, torch.bfloat16):
            return _HALF
        return _LENIENT if kind is DrawKind.LARGE_OFFSET else _FULL

    def allowance(self, eager: float) -> float:
        """Units of roundoff that are allowed, where eager's largest error is `eager`.

        >>> Budget(multiple=16, floor=512, ceiling=4096).allowance(10.0)
        672.0
        """
        return min(self.floor + self.multiple * eager, self.ceiling)


_FULL: Final = Budget(multiple=16.0, floor=512.0, ceiling=4096.0)
"""float32 and float64: rounding adds up over a reduction, other orders are as right."""
_LENIENT: Final = Budget(multiple=64.0, floor=4096.0, ceiling=65536.0)
"""Far from zero every honest order loses digits; overflow and bad variances lose far more."""
_HALF: Final = Budget(multiple=3.0, floor=2.0, ceiling=24.0)
"""float16 and bfloat16: what is summed is summed in float32, so rounding the output dominates."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What one output has to be on one draw, and how far off it may be."""

    value: Tensor
    """In its own shape: float32, or float64 for a float64 output, or exact."""
    dtype: torch.dtype
    """The dtype that the submission has to deliver."""
    least_allowed: Tensor | None
    """For each group of elements the largest error that passes where they are small; None where only
    equality passes."""
    tolerance: float = 0.0
    """What part of its own size an element may be off, where that is more."""
    allowance: float = 0.0
    """How far off an output may be, in units of roundoff of the local scale."""
    eager: float = 0.0
    """Eager's own largest error, in the same units."""
    index: IndexOutput | None = None
    """Where the output holds positions: how to read the values there."""
    rests_on_fractions: bool = False
    """Whether only equality passes, though numbers that are rounded have a part in it: a whole number that
    comes of rounding another one."""
    close: CloseCalls | None = None
    """Which of these whole numbers may be another one."""
    is_met_by_eager: bool = True
    """False where only equality passes and eager itself gives another value, as it rounds before it decides."""

    def with_close(self, close: CloseCalls | None) -> Expected:
        """The same, where some elements may be another number."""
        if close is None:
            return self
        return replace(self, close=close, is_met_by_eager=close.meets_eager)

    def pieces(self, most: int | None = None) -> Iterator[Piece]:
        """The output cut along its groups, at most so many elements at a time."""
        width = group_width(self.value)
        return pieces_of(self.value.numel(), width, most or most_elements(self.value.device))

    def allowed(self, piece: Piece, values: Tensor) -> Tensor:
        """The largest error that passes, for each element of a piece.

        Args:
            piece: One of `pieces`.
            values: What is expected there.
        """
        assert self.least_allowed is not None
        least = self.least_allowed[piece.groups, None]
        return values.abs().mul_(self.tolerance).clamp_(min=least)


def expect(
    gold: Gold,
    eager: list[Tensor],
    draw: Draw,
    indices: Sequence[IndexOutput] = (),
    *,
    keeps_eager: bool = True,
) -> list[Expected]:
    """Prepare the comparison with one draw; made once, used for every run of the submission.

    Args:
        gold: The expected outputs.
        eager: Eager's outputs in the task's dtype; they set the dtypes too.
        draw: The inputs belonging to both.
        indices: Which outputs are positions, as admission found them.
        keeps_eager: Whether eager's outputs are needed afterwards; if not, of each that was looked at only
            the form is left in the list, before more memory is taken.
    """
    rules = {rule.output: rule for rule in indices}
    expected = []
    for number, best in enumerate(gold.outputs):
        dtype, is_floating = eager[number].dtype, eager[number].is_floating_point()
        is_exact = not is_floating and number not in rules and best.dtype == dtype
        is_met = not is_exact or best is eager[number] or torch.equal(eager[number], best)
        scales, error = _error_of(eager[number], best, draw.kind) if is_floating else (None, 0.0)
        if not keeps_eager:
            eager[number] = eager[number].to("meta")
        if scales is not None:
            expected.append(_expect_floating(best, dtype, scales, error, draw.kind, gold.kind))
        elif number in rules:
            values = values_at(best, draw.inputs, rules[number])
            rule = rules[number]
            expected.append(Expected(value=values, dtype=dtype, least_allowed=None, index=rule))
        else:
            expected.append(
                Expected(
                    value=best,
                    dtype=dtype,
                    least_allowed=None,
                    rests_on_fractions=gold.kind is not GoldKind.EXACT,
                    is_met_by_eager=is_met,
                )
            )
    return expected


def is_fit(expected: Sequence[Expected], kind: DrawKind) -> bool:
    """Whether eager errs little enough for a draw to be judged by.

    On the ordinary draw eager has to pass with margin 2. On a harder one, which can be left out,
    the ceiling may not cut into what honest kernels need.
    """
    for output in expected:
        budget = Budget.of(output.dtype, kind) if output.least_allowed is not None else None
        if budget is None:
            continue
        if kind is DrawKind.ORDINARY and 2.0 * output.eager > budget.ceiling:
            return False
        needed = budget.floor + budget.multiple * output.eager
        if kind is not DrawKind.ORDINARY and needed > budget.ceiling:
            return False
    return True


def _error_of(own: Tensor, best: Tensor, kind: DrawKind) -> tuple[Tensor, float]:
    """The local scales of an output, and eager's largest error there, in units of roundoff."""
    unit = torch.finfo(own.dtype).eps / 2
    scales = group_scales(best, masked=kind is DrawKind.SPIKY)
    # Below the smallest normal number a kernel may flush to zero.
    scales.clamp_min_(torch.finfo(own.dtype).tiny / unit)
    return scales, _largest_error(own, best, scales) / unit


def _expect_floating(
    best: Tensor, dtype: torch.dtype, scales: Tensor, eager: float, kind: DrawKind, gold: GoldKind
) -> Expected:
    work = torch.float64 if dtype == torch.float64 else torch.float32
    unit = torch.finfo(dtype).eps / 2
    budget = Budget.of(dtype, kind)
    allowance = budget.allowance(eager)
    if gold is GoldKind.EAGER:
        allowance = min(2.0 * allowance, budget.ceiling)
    return Expected(
        value=best.to(work).contiguous(),
        dtype=dtype,
        least_allowed=scales.mul_(allowance * unit).to(work),
        tolerance=allowance * unit,
        allowance=allowance,
        eager=eager,
    )


def _largest_error(own: Tensor, best: Tensor, scales: Tensor) -> float:
    """Of the finite elements, relative to their local scale."""
    ours, theirs, width = own.flatten(), best.flatten(), group_width(best)
    worst = torch.zeros((), dtype=torch.float64, device=best.device)
    for piece in pieces_of(best.numel(), width, most_elements(best.device)):
        exact = piece.of(theirs).to(torch.float64)  # squares of float32 overflow
        scale = finite_size(exact).clamp_(min=scales[piece.groups, None])
        error = (piece.of(ours).to(torch.float64) - exact).abs_().div_(scale)
        worst = torch.maximum(worst, error.nan_to_num_(0.0, 0.0, 0.0).max())
    return float(worst)
