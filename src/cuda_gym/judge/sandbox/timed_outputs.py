"""Whether the outputs of a timed block are right: of all calls that were timed, and of one that was not.

Among the contents of some blocks one is hidden that is not ordinary: it is judged as a hidden draw is. So who
notices that calls are timed, and computes in them what suffices for ordinary values only, is found out.

Covered: the spare content of the calls that do not count, whose work would else be left out. Not covered: what
is wrong with a wrong output; the draws before the race tell that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cuda_gym.judge.sandbox.cuda_comparing import CudaComparing
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.messages import TensorSpec
from cuda_gym.judge.sandbox.transport import dtype_name
from cuda_gym.judge.verification.budget import Expected
from cuda_gym.judge.verification.correctness import timed_error_ratio
from cuda_gym.judge.verification.local_scale import group_width
from cuda_gym.judge.verification.several_outputs import (
    least_size,
    ratios_of_several,
    timed_tolerance,
)
from cuda_gym.judge.verification.slices import most_elements
from cuda_gym.judge.verification.trial import Trial

__all__ = ["HiddenContent", "Worst", "worst_output"]


@dataclass(frozen=True, kw_only=True)
class HiddenContent:
    """A hidden draw among the contents of a block."""

    number: int
    """Of its content."""
    trial: Trial


@dataclass(frozen=True, kw_only=True)
class Worst:
    """The output that is furthest off."""

    error_ratio: float
    """Its error over what is allowed; infinite where it is not even comparable."""
    kind: str
    """Of the draw that it belongs to."""


def worst_output(
    handout: Handout,
    compiled: Sequence[Sequence[Tensor]],
    expected: Sequence[Expected],
    *,
    count: int,
    hidden: HiddenContent | None,
    comparing: CudaComparing | None = None,
) -> Worst:
    """Compare what a candidate delivered for the first contents of a block.

    First all at once, then one by one what is not surely right.

    Args:
        handout: The contents, and where outputs came back.
        compiled: What the compiled model returned for each content.
        expected: Of the ordinary draw: its allowances are used.
        count: How many contents the candidate was called on.
        hidden: Which of them is judged by gold.
        comparing: Of the device, where it has that.
    """
    worst = Worst(error_ratio=0.0, kind="ordinary")
    place = -1 if hidden is None else hidden.number
    ordinary = [number for number in range(len(compiled[:count])) if number != place]
    surely_right = _surely_right(handout, compiled, expected, ordinary, comparing)
    for number, ours in enumerate(compiled[:count]):
        if hidden is not None and number == hidden.number:
            found = _hidden_output(handout, hidden)
        elif number in surely_right:
            found = Worst(error_ratio=surely_right[number], kind="ordinary")
        else:
            found = _ordinary_output(handout, number, ours, expected)
        if math.isnan(found.error_ratio):
            return Worst(error_ratio=math.inf, kind=found.kind)
        if found.error_ratio > worst.error_ratio:
            worst = found
    return worst


def _surely_right(
    handout: Handout,
    compiled: Sequence[Sequence[Tensor]],
    expected: Sequence[Expected],
    numbers: Sequence[int],
    comparing: CudaComparing | None,
) -> dict[int, float]:
    """The errors over what is allowed of those calls whose outputs need no closer look; one wait in all."""
    numbers = [n for n in numbers if _has_form(handout.specs[n], compiled[n], expected)]
    if not numbers:
        return {}
    places = [place for place, spec in enumerate(handout.specs[numbers[0]]) if 0 not in spec.shape]
    if not places:
        return dict.fromkeys(numbers, 0.0)
    ratios = [
        _ratios_of_place(handout, compiled, place, expected[place], numbers, comparing)
        for place in places
    ]
    worst = torch.stack(ratios).amax(dim=0).tolist()
    return {n: ratio for n, ratio in zip(numbers, worst, strict=True) if ratio <= 1.0}


def _has_form(
    specs: Sequence[TensorSpec], ours: Sequence[Tensor], expected: Sequence[Expected]
) -> bool:
    return len(specs) == len(ours) == len(expected) and all(
        spec.shape == want.shape
        and want.dtype == rule.dtype
        and spec.dtype == dtype_name(rule.dtype)
        for spec, want, rule in zip(specs, ours, expected, strict=True)
    )


def _ratios_of_place(
    handout: Handout,
    compiled: Sequence[Sequence[Tensor]],
    place: int,
    rule: Expected,
    numbers: Sequence[int],
    comparing: CudaComparing | None,
) -> Tensor:
    """Of one output of all calls; where that takes copies, as many together as suit the device."""
    first = compiled[numbers[0]][place]
    step = max(1, most_elements(first.device) // first.numel())
    if comparing is not None and (rule.least_allowed is None or not comparing.takes(rule.dtype)):
        comparing = None
    lies_there = isinstance(handout.outputs, CudaRegion)
    if comparing and lies_there and all(compiled[n][place].is_contiguous() for n in numbers):
        step = len(numbers)
    ratios = []
    for start in range(0, len(numbers), step):
        some = numbers[start : start + step]
        wanted = [compiled[n][place] for n in some]
        # No variable holds a copy while the next one is made.
        if comparing:
            errors = comparing.relative_errors(
                [handout.lying(place, n) for n in some], wanted,
                width=group_width(first), least_size=least_size(rule.dtype),
            )  # fmt: skip
            ratios.append(errors.to(torch.float64).div_(timed_tolerance(rule)))
        else:
            ratios.append(ratios_of_several(handout.delivered_together(place, some), wanted, rule))
    return torch.cat(ratios)


def _hidden_output(handout: Handout, hidden: HiddenContent) -> Worst:
    (outputs,) = handout.delivered(hidden.number, hidden.number + 1)
    findings = hidden.trial.judge(outputs)
    ratio = findings.error_ratio if findings.error_ratio is not None else math.inf
    ratio = min(ratio, 1.0) if findings.passed else max(ratio, 2.0)
    return Worst(error_ratio=ratio, kind=findings.name)


def _ordinary_output(
    handout: Handout, number: int, ours: Sequence[Tensor], expected: Sequence[Expected]
) -> Worst:
    """A function of its own, so that each copy is gone before the next one is made."""
    (outputs,) = handout.delivered(number, number + 1)
    ratio = timed_error_ratio(outputs, ours, expected, handout.call(number))
    return Worst(error_ratio=ratio, kind="ordinary")
