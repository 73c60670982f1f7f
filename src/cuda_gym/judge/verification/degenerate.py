"""Outputs that took no work. A task on which one of them passes cannot be judged fairly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.trial import Trial

__all__ = ["passing_degenerate"]


def passing_degenerate(trials: Sequence[Trial], previous: Sequence[Tensor]) -> str | None:
    """Name a way of not doing the work that passes every trial; None where there is none.

    Args:
        trials: All draws that the task will be judged by; the first is the ordinary one.
        previous: The outputs of an ordinary draw with another seed.
    """
    first = trials[0]
    if first.accepts(previous):
        return "the outputs of a previous draw"
    for number in range(len(first.eager)):
        for name in _degenerates(first, number):
            if all(_passes(trial, number, name) for trial in trials):
                return name if len(first.eager) == 1 else f"{name} as output {number}"
    return None


def _passes(trial: Trial, number: int, name: str) -> bool:
    """Whether one output may be replaced while all others are right."""
    replaced = _degenerates(trial, number).get(name)
    if replaced is None:
        return False
    outputs = list(trial.eager)
    outputs[number] = replaced
    return trial.accepts(outputs)


def _degenerates(trial: Trial, number: int) -> dict[str, Tensor]:
    return dict(_each_degenerate(trial, trial.eager[number]))


def _each_degenerate(trial: Trial, right: Tensor) -> Iterator[tuple[str, Tensor]]:
    if not right.numel():
        return
    yield "all zeros", torch.zeros_like(right)
    if right.numel() > 1:
        mean = right.to(torch.float64).nan_to_num().mean()
        yield "a constant, the mean", torch.full_like(right, mean.to(right.dtype).item())
        half = right.flatten().clone()
        half[half.numel() // 2 :] = 0
        yield "the first half, and zeros", half.view(right.shape)
    for place, tensor in enumerate(tensors_in(trial.draw.inputs)):
        if tensor.numel() == right.numel() and tensor.dtype == right.dtype:
            yield f"a copy of input {place}", tensor.reshape(right.shape)
