"""Rows, columns or channels that are off each by a number of its own."""

from __future__ import annotations

import math

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
    ndim = want.ndim
    # The coarsest first: where all rows of a channel are off by one factor, it is the channel's.
    for dim in dict.fromkeys((1, ndim - 1, 0)):
        if dim < ndim - 2 or dim == ndim - 1:
            found = _of_groups(got, want, wrong, dim, 1)
            if found:
                return found
    return _of_groups(got, want, wrong, ndim - 2, ndim - 1)


def _of_groups(got: Tensor, want: Tensor, wrong: Tensor, dim: int, depth: int) -> str | None:
    """Of the groups that a dimension makes.

    Args:
        got: The output.
        want: What was expected.
        wrong: Which elements are wrong.
        dim: Whose index tells the groups apart.
        depth: How many dimensions do, from `dim` down to the first; 1 for `dim` alone.
    """
    if depth == 1:
        got, want, wrong = (x.movedim(dim, 0) for x in (got, want, wrong))
    groups, members = math.prod(want.shape[:depth]), math.prod(want.shape[depth:])
    if groups < 2 or members < 4:
        return None
    count = wrong.sum(dim=list(range(depth, want.ndim))).flatten().cpu()
    chosen = (count >= 0.9 * members).nonzero().flatten()
    chosen = chosen[:: len(chosen) // _MAX_GROUPS + 1]
    if len(chosen) < 2 or count[chosen].sum() < 8:
        return None
    ours, theirs = (_members(x, chosen, depth, members) for x in (got, want))
    return _of_members(ours, theirs, dimension_name(dim, want.ndim))


def _members(values: Tensor, chosen: Tensor, depth: int, members: int) -> Tensor:
    """A row of values for each of the chosen groups, on the CPU in float64."""
    among = torch.arange(0, members, members // _MAX_MEMBERS + 1)
    outer = torch.unravel_index(chosen[:, None], values.shape[:depth])
    inner = torch.unravel_index(among[None, :], values.shape[depth:])
    index = tuple(i.to(values.device) for i in (*outer, *inner))
    return values[index].cpu().to(torch.float64)


def _of_members(ours: Tensor, theirs: Tensor, name: str) -> str | None:
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
