"""Outputs that took no work. A task on which one of them passes cannot be judged fairly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor

from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.slices import most_elements, pieces_of
from cuda_gym.judge.verification.trial import Trial

__all__ = ["passing_degenerate"]


def passing_degenerate(
    trials: Iterable[Trial], previous: Callable[[], Sequence[Tensor]]
) -> str | None:
    """Name a way of not doing the work that passes every trial; None where there is none.

    Args:
        trials: All draws that the task will be judged by; the first is the ordinary one.
        previous: Makes the outputs of an ordinary draw with another seed; called when the first trial is there,
            whose making takes more memory than it.
    """
    first = next(iter(trials))
    if first.accepts(previous()):
        return "the outputs of a previous draw"
    count = len(first.eager)
    ways = [(number, way) for number in range(count) for way in _ways(first, number)]
    suspects = [(number, way) for number, way in ways if _passes(first, number, way)]
    del first
    for number, way in suspects:
        if all(_passes(trial, number, way) for trial in trials):
            return way if count == 1 else f"{way} as output {number}"
    return None


def _passes(trial: Trial, number: int, way: str) -> bool:
    """Whether one output may be replaced while all others are right."""
    make = _ways(trial, number).get(way)
    if make is None:
        return False
    outputs = list(trial.eager)
    outputs[number] = make()
    return trial.accepts(outputs)


def _ways(trial: Trial, number: int) -> dict[str, Callable[[], Tensor]]:
    """By name, what can be had in place of an output without its work."""
    right = trial.eager[number]
    if not right.numel():
        return {}
    ways: dict[str, Callable[[], Tensor]] = {"all zeros": lambda: torch.zeros_like(right)}
    if right.numel() > 1:
        ways["a constant, the mean"] = lambda: torch.full_like(right, _mean(right))
        ways["the first half, and zeros"] = lambda: _half(right)
    for place, tensor in enumerate(tensors_in(trial.draw.inputs)):
        if tensor.numel() == right.numel() and tensor.dtype == right.dtype:
            ways[f"a copy of input {place}"] = partial(tensor.reshape, right.shape)
    return ways


def _mean(right: Tensor) -> float:
    """Of what are numbers, in the output's own dtype."""
    flat = right.flatten()
    total = torch.zeros((), dtype=torch.float64, device=right.device)
    most = most_elements(right.device)
    for piece in pieces_of(flat.numel(), 1, most):
        total += piece.of(flat).to(torch.float64).nan_to_num_().sum()
    return (total / flat.numel()).to(right.dtype).item()


def _half(right: Tensor) -> Tensor:
    half = right.clone(memory_format=torch.contiguous_format).flatten()
    half[half.numel() // 2 :] = 0
    return half.view(right.shape)
