"""How far off may an output be? The error budget, and what it allows on one draw.

The error of an output is measured in units of roundoff of a local scale: the root mean square of
what was expected in the element's row, or the element itself where that is larger. A submission
may err `multiple` times as much as eager PyTorch does in the task's dtype, plus `floor`, but never
more than `ceiling`; all three were chosen by measurement and are tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from cuda_gym.judge.verification.gold import Gold, GoldKind, IndexOutput, values_at
from cuda_gym.judge.verification.inputs import Draw, DrawKind

__all__ = ["Budget", "Expected", "expect", "group_width", "is_fit", "local_scale"]

_MIN_GROUP: Final = 32
"""A row of fewer elements says little about a scale: rows are joined until there are so many."""
_MASKED: Final = 16.0
"""In a spiky draw, elements this many times the typical size do not count for the scale."""


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
    allowed: Tensor | None
    """The largest error that passes, for each element; None where only equality passes."""
    allowance: float = 0.0
    """The same in units of roundoff of the local scale."""
    eager: float = 0.0
    """Eager's own largest error, in the same units."""
    index: IndexOutput | None = None
    """Where the output holds positions: how to read the values there."""


def expect(
    gold: Gold,
    eager: Sequence[Tensor],
    draw: Draw,
    indices: Sequence[IndexOutput] = (),
) -> list[Expected]:
    """Prepare the comparison with one draw; made once, used for every run of the submission.

    Args:
        gold: The expected outputs.
        eager: Eager's outputs in the task's dtype; they set the dtypes too.
        draw: The inputs belonging to both.
        indices: Which outputs are positions, as admission found them.
    """
    rules = {rule.output: rule for rule in indices}
    expected = []
    for number, (best, own) in enumerate(zip(gold.outputs, eager, strict=True)):
        if own.is_floating_point():
            expected.append(_expect_floating(best, own, draw.kind, gold.kind))
        elif number in rules:
            values = values_at(best, draw.inputs, rules[number])
            rule = rules[number]
            expected.append(Expected(value=values, dtype=own.dtype, allowed=None, index=rule))
        else:
            expected.append(Expected(value=best, dtype=own.dtype, allowed=None))
    return expected


def is_fit(expected: Sequence[Expected], kind: DrawKind) -> bool:
    """Whether eager errs little enough for a draw to be judged by.

    On the ordinary draw eager has to pass with margin 2. On a harder one, which can be left out,
    the ceiling may not cut into what honest kernels need.
    """
    for output in expected:
        budget = Budget.of(output.dtype, kind) if output.allowed is not None else None
        if budget is None:
            continue
        if kind is DrawKind.ORDINARY and 2.0 * output.eager > budget.ceiling:
            return False
        needed = budget.floor + budget.multiple * output.eager
        if kind is not DrawKind.ORDINARY and needed > budget.ceiling:
            return False
    return True


def local_scale(best: Tensor, *, masked: bool) -> Tensor:
    """For each element the root mean square of its row, or its own size where that is larger.

    A row that is mostly zeros, as after a ReLU, does not say how large the numbers were from which
    its few others were computed: there the typical row counts where it is larger.
    """
    size = torch.where(best.isfinite(), best, 0.0).abs_()
    rows = size.reshape(-1, group_width(best))
    if masked:
        typical = rows.sqrt().sqrt_().mean(dim=1, keepdim=True).pow_(4)
        small = torch.where(rows <= _MASKED * typical, rows, 0.0)
        count = (rows <= _MASKED * typical).sum(dim=1, keepdim=True).clamp_min_(1)
        square = small.square_().sum(dim=1, keepdim=True).div_(count)
    else:
        square = torch.linalg.vector_norm(rows, dim=1, keepdim=True).square_().div_(rows.shape[1])
    sparse = rows.count_nonzero(dim=1).unsqueeze_(1) * 2 < rows.shape[1]
    if bool(sparse.any()) and bool(square.any()):
        square = torch.where(sparse, square.clamp_min(square[square > 0].median()), square)
    return torch.maximum(rows, square.sqrt_()).reshape(best.shape)


def group_width(tensor: Tensor) -> int:
    """The last dimension, joined with those before it until there are at least 32 elements."""
    width = 1
    for size in reversed(tensor.shape):
        width *= size
        if width >= _MIN_GROUP:
            return width
    return max(1, tensor.numel())


def _expect_floating(best: Tensor, own: Tensor, kind: DrawKind, gold: GoldKind) -> Expected:
    work = torch.float64 if own.dtype == torch.float64 else torch.float32
    best = best.to(torch.float64)  # squares of float32 overflow
    unit = torch.finfo(own.dtype).eps / 2
    scale = local_scale(best, masked=kind is DrawKind.SPIKY)
    # Below the smallest normal number a kernel may flush to zero.
    scale = scale.clamp_min_(torch.finfo(own.dtype).tiny / unit)
    error = (own.to(best.dtype) - best).abs_().div_(scale).nan_to_num_(0.0, 0.0, 0.0)
    eager = float(error.max()) / unit if error.numel() else 0.0
    budget = Budget.of(own.dtype, kind)
    allowance = budget.allowance(eager)
    if gold is GoldKind.EAGER:
        allowance = min(2.0 * allowance, budget.ceiling)
    return Expected(
        value=best.to(work),
        dtype=own.dtype,
        allowed=scale.mul_(allowance * unit).to(work),
        allowance=allowance,
        eager=eager,
    )
