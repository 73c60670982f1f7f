"""Inputs and parameters that explain what is wrong: left out, or deciding where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from cuda_gym.judge.verification.pattern_sample import Wrong, mostly, values_at

__all__ = ["describe_condition", "describe_left_out"]

_MIN_ELEMENTS = 8
_MOST_RIGHT = 0.01
"""A condition is told where it holds for at most this share of the right elements."""
_EXPECTED = "the expected value"


def describe_left_out(seen: Wrong, given: Mapping[str, Tensor]) -> str | None:
    """A tensor that was not added, not multiplied by, or copied.

    Args:
        seen: The wrong elements.
        given: Inputs and parameters by name.
    """
    if len(seen.positions) < _MIN_ELEMENTS or not bool(seen.ours.isfinite().all()):
        return None
    for name, values in _aligned(seen, seen.positions, given):
        if bool((values == values[0]).all()) or not bool(values.isfinite().all()):
            continue
        scale = torch.maximum(seen.theirs.abs(), values.abs())
        for said, guess in (
            ("they are a copy of {0}", values),
            ("{0} is left out: expected is got + {0}", seen.theirs - values),
            ("{0} is added once too often: expected is got - {0}", seen.theirs + values),
            ("{0} is left out: expected is got * {0}", seen.theirs / values),
            ("{0} is multiplied by once too often: expected is got / {0}", seen.theirs * values),
        ):
            if mostly((seen.ours - guess).abs() <= 1e-4 * torch.maximum(scale, guess.abs())):
                return said.format(name)
    return None


def describe_condition(seen: Wrong, given: Mapping[str, Tensor]) -> str | None:
    """That elements are wrong only where an input of the same shape is negative, large, ...

    Args:
        seen: The wrong elements.
        given: Inputs and parameters by name.
    """
    if len(seen.positions) < _MIN_ELEMENTS or len(seen.right) < _MIN_ELEMENTS:
        return None
    same = {
        name: tensor
        for name, tensor in given.items()
        if tensor.shape == seen.want.shape and tensor.is_floating_point()
    }
    for name, tensor in {**same, _EXPECTED: seen.want}.items():
        wrong, right = (values_at(tensor, where) for where in (seen.positions, seen.right))
        for said, holds in _conditions(name, wrong):
            if bool(holds(wrong).double().mean() >= 0.99) and bool(
                holds(right).double().mean() <= _MOST_RIGHT
            ):
                return f"only where {said}"
    return None


def _conditions(name: str, wrong: Tensor) -> Iterator[tuple[str, Callable[[Tensor], Tensor]]]:
    """What may be true of the wrong elements alone, the simplest first."""
    yield f"{name} is negative", lambda x: x < 0
    yield f"{name} is positive", lambda x: x > 0
    yield f"{name} is 0", lambda x: x == 0
    low, high = float(wrong.min()), float(wrong.max())
    least, most = float(wrong.abs().min()), float(wrong.abs().max())
    yield f"{name} is at least {low:.4g}", lambda x: x >= low
    yield f"{name} is at most {high:.4g}", lambda x: x <= high
    yield f"|{name}| is at least {least:.4g}", lambda x: x.abs() >= least
    yield f"|{name}| is at most {most:.4g}", lambda x: x.abs() <= most
    yield f"{name} is between {low:.4g} and {high:.4g}", lambda x: (x >= low) & (x <= high)


def _aligned(
    seen: Wrong, positions: Tensor, given: Mapping[str, Tensor]
) -> Iterator[tuple[str, Tensor]]:
    """The value of each tensor that belongs to each of the elements, where there is one."""
    shape = seen.want.shape
    index = torch.unravel_index(positions, shape)
    for name, tensor in given.items():
        if not tensor.is_floating_point() or not tensor.numel():
            continue
        views = [tensor]
        if tensor.ndim == 1 and len(shape) > 2:  # a channel's, before a row's
            views.insert(0, tensor.view(-1, *[1] * (len(shape) - 2)))
        for view in views:
            if view.ndim > len(shape) or not all(
                a in (1, b) for a, b in zip(view.shape[::-1], shape[::-1], strict=False)
            ):
                continue
            there = tuple(i.to(view.device) for i in index)
            yield name, view.broadcast_to(shape)[there].cpu().to(torch.float64)
