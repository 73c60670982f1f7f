"""Outputs of several timed calls are compared together: in a few passes, and without a wait for the device.

For small outputs a wait and a dozen operators each would take longer than the calls that they came from.

Covered: whether an output is right by the strictest of the rules. Not covered: whether one that is not may
pass all the same, as an index that names another position of an equal value; `correctness` looks closer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.local_scale import group_width
from cuda_gym.judge.verification.slices import most_elements, pieces_of

__all__ = [
    "errors_by_row",
    "least_size",
    "ratios_of_several",
    "relative_errors",
    "timed_tolerance",
]

_WRONG = 2.0


def ratios_of_several(got: Tensor, want: Sequence[Tensor], rule: Expected) -> Tensor:
    """Of each output the error over what is allowed, in float64; above 1 or NaN where a closer look is due.

    Args:
        got: What a candidate returned, stacked; each element is read once, so it need not be a copy.
        want: What the compiled reference returned, in the same form; at least one element each.
        rule: Of any of them.
    """
    wanted = torch.stack(list(want)) if len(want) > 1 else want[0].unsqueeze(0)
    if rule.least_allowed is None:
        differs = (got != wanted).reshape(len(want), -1).any(dim=1)
        return differs.to(torch.float64).mul_(_WRONG)
    errors, sizes = errors_by_row(got, wanted, group_width(want[0]))
    worst = relative_errors(errors, sizes, rule.dtype).view(len(want), -1).amax(dim=1)
    return worst.to(torch.float64).div_(timed_tolerance(rule))


def timed_tolerance(rule: Expected) -> float:
    """The largest relative error that passes; twice what is allowed, for the compiled reference errs too."""
    return 2.0 * rule.allowance * torch.finfo(rule.dtype).eps / 2


def errors_by_row(got: Tensor, want: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The largest error in each row of so many elements, and the mean size of what is wanted there.

    The mean size is at most the root mean square, and cannot overflow where squares would.
    """
    work = torch.float64 if want.dtype == torch.float64 else torch.float32
    ours, theirs, most = got.flatten(), want.flatten(), most_elements(want.device)
    if theirs.numel() <= most:
        rows = theirs.view(-1, width).to(work)
        size = torch.linalg.vector_norm(rows, ord=1, dim=1)
        return _largest(ours.view(-1, width) - rows), size.div_(width)
    error, size = (
        torch.zeros(theirs.numel() // width, dtype=work, device=want.device) for _ in range(2)
    )
    for piece in pieces_of(theirs.numel(), width, most):
        rows = piece.of(theirs).to(work)
        size[piece.groups] += torch.linalg.vector_norm(rows, ord=1, dim=1)
        off = _largest(piece.of(ours) - rows)
        error[piece.groups] = torch.maximum(error[piece.groups], off)
    return error, size.div_(width)


def _largest(errors: Tensor) -> Tensor:
    """Of each row, in place; a GPU reads the rows once for it, where a processor would take ten times as long."""
    if errors.device.type == "cpu":
        return errors.abs_().amax(dim=1)
    largest: Tensor = torch.linalg.vector_norm(errors, ord=math.inf, dim=1)
    return largest


def relative_errors(errors: Tensor, sizes: Tensor, dtype: torch.dtype) -> Tensor:
    """Errors of rows over their sizes, in place of both; NaN where a row has no size that can be told."""
    sizes.clamp_min_(least_size(dtype)).masked_fill_(sizes.isinf(), math.nan)
    return errors.div_(sizes)


def least_size(dtype: torch.dtype) -> float:
    """What rows are measured by at least: below the smallest normal number a kernel may flush to zero."""
    info = torch.finfo(dtype)
    return float(info.tiny / (info.eps / 2))
