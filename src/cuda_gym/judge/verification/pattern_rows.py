"""Rows, columns or channels that are off each by a number of its own."""

from __future__ import annotations

import torch
from torch import Tensor

from cuda_gym.judge.verification.pattern_places import dimension_name
from cuda_gym.judge.verification.pattern_sample import mostly

__all__ = ["describe_rows"]

_MAX_GROUPS = 128
_MAX_MEMBERS = 512
_MIN_TO_FIT = 16


def describe_rows(got: Tensor, want: Tensor, wrong: Tensor) -> str | None:
    """One factor, or one difference, within each row, and another in the next.

    Args:
        got: The output.
        want: What was expected, in the same shape.
        wrong: Which elements are wrong.
    """
    if want.ndim < 2 or want.shape[-1] < 4:
        return None
    kinds: list[tuple[str, tuple[Tensor, ...]]] = []
    # The coarsest first: where all rows of a channel are off by one factor, it is the channel's.
    for dim in dict.fromkeys((1, want.ndim - 1, 0)):
        if dim < want.ndim - 2 or dim == want.ndim - 1:
            moved = [x.movedim(dim, 0).reshape(want.shape[dim], -1) for x in (got, want, wrong)]
            kinds.append((dimension_name(dim, want.ndim), tuple(moved)))
    rows = [x.reshape(-1, want.shape[-1]) for x in (got, want, wrong)]
    kinds.append((dimension_name(want.ndim - 2, want.ndim), tuple(rows)))
    for name, (ours, theirs, mask) in kinds:
        if len(ours) > 1 and ours.shape[1] > 3 and (found := _of_groups(ours, theirs, mask, name)):
            return found
    return None


def _of_groups(got: Tensor, want: Tensor, wrong: Tensor, name: str) -> str | None:
    chosen = (wrong.double().mean(dim=1) >= 0.9).nonzero().flatten()
    chosen = chosen[:: len(chosen) // _MAX_GROUPS + 1]
    if len(chosen) < 2 or wrong[chosen].sum() < 8:
        return None
    step = got.shape[1] // _MAX_MEMBERS + 1
    ours = got[chosen][:, ::step].to(torch.float64)
    theirs = want[chosen][:, ::step].to(torch.float64)
    if not bool(ours.isfinite().all() and theirs.isfinite().all()) or not mostly(theirs != 0):
        return None
    ratio = torch.where(theirs != 0, ours / theirs, 1.0)
    factor = ratio.median(dim=1, keepdim=True).values
    if mostly((ratio - factor).abs() <= 1e-3 * factor.abs()) and bool((factor != 0).any()):
        span = f"{float(factor.min()):.3g} to {float(factor.max()):.3g}"
        return f"each {name} is off by a factor of its own, {span}: what it is divided or scaled by is wrong"
    difference = ours - theirs
    shift = difference.median(dim=1, keepdim=True).values
    size = shift.abs().clamp_min(1e-5 * theirs.abs().amax(dim=1, keepdim=True))
    if mostly((difference - shift).abs() <= 1e-3 * size) and bool((shift != 0).any()):
        span = f"{float(shift.min()):.3g} to {float(shift.max()):.3g}"
        return f"each {name} is off by a difference of its own, {span}: what is added to it or subtracted is wrong"
    if ours.shape[1] >= _MIN_TO_FIT and mostly(_misfit(ours, theirs) <= 1e-3):
        return (
            f"each {name} is right up to a factor and a difference of its own: its mean and its "
            "spread, or what they are computed from, are wrong"
        )
    return None


def _misfit(ours: Tensor, theirs: Tensor) -> Tensor:
    """How far each row is from a straight line of the other, relative to its spread."""
    x = theirs - theirs.mean(dim=1, keepdim=True)
    y = ours - ours.mean(dim=1, keepdim=True)
    slope = (x * y).sum(dim=1, keepdim=True) / x.square().sum(dim=1, keepdim=True)
    spread = y.square().mean(dim=1).sqrt()
    return ((y - slope * x).square().mean(dim=1).sqrt() / spread).nan_to_num(1.0)
