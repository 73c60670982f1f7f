"""Is an output right? The comparison with what one draw has to give, and what is wrong if not.

Covered: values, NaN, infinities, shapes, dtypes, indices. Not covered: aliasing, storage and
unchanged inputs, which are seen only where the submission runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from cuda_gym.core.findings import DrawFindings, Mismatch
from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.gold import values_at
from cuda_gym.judge.verification.inputs import Draw
from cuda_gym.judge.verification.local_scale import group_scales, group_width
from cuda_gym.judge.verification.patterns import find_pattern
from cuda_gym.judge.verification.ratios import Ratios, quick_ratio
from cuda_gym.judge.verification.several_outputs import (
    errors_by_row,
    relative_errors,
    timed_tolerance,
)

__all__ = ["compare", "is_right", "timed_error_ratio"]

_MOST_MISSES = 1e-3
"""Of the whole numbers of a timed call that come of rounding fractions. torch.compile rounds these in its own way,
and so may a kernel: with 4,800 of them in a call, x * (1 / s) instead of x / s missed one in a hundred calls. Who
leaves out so few gains nothing."""


def compare(
    candidate: Sequence[Tensor],
    expected: Sequence[Expected],
    draw: Draw,
    given: Mapping[str, Tensor] | None = None,
) -> DrawFindings:
    """Say whether the outputs are right, and if not, where and how they are wrong.

    A right output costs a few passes over it, piece by piece, and one wait for the device; only a
    wrong one is looked at closely.

    Args:
        candidate: Private copies, so that nobody can change them while they are read.
        expected: What they have to be.
        draw: What they were computed from.
        given: The tensors of the draw and the parameters, by the names that the reference gives them.
    """
    if len(candidate) != len(expected):
        count = f"{len(candidate)} outputs came back, {len(expected)} are expected."
        return _failed(draw, 0, f"{count} Return what the reference's forward() returns.")
    ratio = 0.0
    for number, (got, want) in enumerate(zip(candidate, expected, strict=True)):
        reason = _form(got, want)
        if reason:
            return _failed(draw, number, reason)
        try:
            values = got if want.index is None else values_at(got, draw.inputs, want.index)
        except IndexError as error:
            return _failed(draw, number, f"The output holds a {error}.")
        worst = quick_ratio(values, want)
        if not worst <= 1.0:
            findings = _examine(values, want, draw, number, given)
            if not findings.passed:
                return findings
            worst = findings.error_ratio or 0.0
        ratio = max(ratio, worst)
    return DrawFindings(
        name=draw.kind.value,
        description=draw.description,
        passed=True,
        num_elements=sum(want.value.numel() for want in expected),
        error_ratio=ratio,
    )


def is_right(candidate: Sequence[Tensor], expected: Sequence[Expected], draw: Draw) -> bool:
    """The same decision as `compare`, without a look at what is wrong."""
    if len(candidate) != len(expected):
        return False
    for got, want in zip(candidate, expected, strict=True):
        if _form(got, want):
            return False
        try:
            values = got if want.index is None else values_at(got, draw.inputs, want.index)
        except IndexError:
            return False
        ratio = quick_ratio(values, want)
        if math.isnan(ratio):
            ratio = Ratios.of(values, want).largest
        if ratio > 1.0:
            return False
    return True


def timed_error_ratio(
    candidate: Sequence[Tensor],
    compiled: Sequence[Tensor],
    expected: Sequence[Expected],
    inputs: Any,
) -> float:
    """The largest error over what is allowed, for outputs of a timed call; at most 1 passes.

    What is compared with is torch.compile's own output on the same inputs, which errs too, so the
    allowance is doubled. Infinite where form, NaN or infinities do not agree.

    Args:
        candidate: The submission's outputs.
        compiled: The outputs of the compiled reference on the same inputs.
        expected: Of the ordinary draw: its allowances are used, not its values.
        inputs: The inputs of this call, where an output holds positions in them.
    """
    if len(candidate) != len(compiled):
        return math.inf
    worst = 0.0
    for got, want, rule in zip(candidate, compiled, expected, strict=True):
        if got.shape != want.shape or got.dtype != rule.dtype:
            return math.inf
        if not got.numel():
            continue
        worst = max(worst, _timed_ratio(got, want, rule, inputs))
    return worst


def _form(got: Tensor, want: Expected) -> str | None:
    shape = want.value.shape
    if got.shape != shape:
        return f"The shape is {list(got.shape)}, expected is {list(shape)}."
    if got.dtype != want.dtype:
        return f"The dtype is {got.dtype}, expected is {want.dtype}."
    return None


def _examine(
    got: Tensor, want: Expected, draw: Draw, number: int, given: Mapping[str, Tensor] | None
) -> DrawFindings:
    """Look at every element: which are wrong, which is the worst, what do they share?"""
    found, total = Ratios.of(got, want), got.numel()
    if not found.count:
        return _passed(draw, number, found.largest)
    return DrawFindings(
        name=draw.kind.value,
        description=draw.description,
        passed=False,
        reason=_reason(found.count, total, found.largest, want, number),
        output=number,
        num_elements=total,
        num_wrong=found.count,
        first=_mismatch(found.first, got, want),
        worst=_mismatch(found.worst, got, want),
        pattern=find_pattern(got, want.value, found.wrong, given=given),
        error_ratio=found.largest,
    )


def _mismatch(place: int, got: Tensor, want: Expected) -> Mismatch:
    value = want.value.flatten()[place]
    return Mismatch(
        index=tuple(int(i) for i in torch.unravel_index(torch.tensor(place), got.shape)),
        got=float(got.flatten()[place]),
        expected=float(value),
        allowed=_allowed_at(place, float(value), want),
    )


def _allowed_at(place: int, value: float, want: Expected) -> float:
    if want.least_allowed is None:
        return 0.0
    least = float(want.least_allowed[place // group_width(want.value)])
    return max(least, abs(value) * want.tolerance) if math.isfinite(value) else least


def _reason(count: int, total: int, ratio: float, want: Expected, number: int) -> str:
    which = f" of output {number}" if number else ""
    share = f"{count:,} of {total:,} elements{which} ({_share(count / total)})"
    if want.index is not None:
        return f"{share} point at a value that is not the expected one."
    if want.least_allowed is None:
        return f"{share} are not equal to the expected, exact value."
    if math.isinf(ratio):
        return f"{share} are wrong, some of them NaN or infinite where a number is expected."
    return f"{share} are off by more than is allowed, the worst by {ratio:.3g} times as much."


def _share(share: float) -> str:
    """In per cent; neither none nor all unless it is.

    >>> _share(0.25), _share(1.0), _share(1e-6), _share(1 - 1e-6)
    ('25%', '100%', 'less than 0.1%', 'more than 99.9%')
    """
    if share == 1.0 or 0.001 <= share <= 0.999:
        return f"{100.0 * share:.3g}%"
    return "less than 0.1%" if share < 0.5 else "more than 99.9%"


def _passed(draw: Draw, number: int, ratio: float) -> DrawFindings:
    return DrawFindings(
        name=draw.kind.value,
        description=draw.description,
        passed=True,
        output=number,
        error_ratio=ratio,
    )


def _failed(draw: Draw, number: int, reason: str) -> DrawFindings:
    return DrawFindings(
        name=draw.kind.value,
        description=draw.description,
        passed=False,
        reason=reason,
        output=number,
        error_ratio=math.inf,
    )


def _timed_ratio(got: Tensor, want: Tensor, rule: Expected, inputs: Any) -> float:
    if rule.least_allowed is None:
        if rule.index is not None:
            try:
                got, want = (values_at(x, inputs, rule.index) for x in (got, want))
            except IndexError:
                return math.inf
        return _share_of_misses(got, want, most=_MOST_MISSES if rule.rests_on_fractions else 0.0)
    tolerance, tiny = timed_tolerance(rule), torch.finfo(rule.dtype).tiny
    errors, sizes = errors_by_row(got, want, group_width(want))
    ratio = float(relative_errors(errors, sizes, rule.dtype).max())
    if ratio <= tolerance:
        return ratio / tolerance
    # Element by element, on a scale that is at most the true one: who passes here is right.
    want = want.contiguous()
    strict = Expected(
        value=want, dtype=rule.dtype, least_allowed=sizes.mul_(tolerance), tolerance=tolerance
    )
    ratio = quick_ratio(got, strict)
    if ratio <= 1.0:
        return ratio
    least = group_scales(want, masked=False).mul_(tolerance).clamp_min_(tiny)
    exact = Expected(value=want, dtype=rule.dtype, least_allowed=least, tolerance=tolerance)
    return Ratios.of(got, exact).largest


def _share_of_misses(got: Tensor, want: Tensor, *, most: float) -> float:
    """How many elements differ, by one, over how many may; infinite where more do, or one by more."""
    if torch.equal(got, want):
        return 0.0
    allowed = int(got.numel() * most)
    off = (got.to(torch.float64) - want.to(torch.float64)).abs_() if allowed else None
    if off is None or float(off.max()) > 1.0:
        return math.inf
    num_missed = int(off.count_nonzero())
    return num_missed / allowed if num_missed <= allowed else math.inf
