"""Which kinds of draws can a task bear? Found by trying each; the others are told with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from cuda_gym.errors import OutOfDeviceMemory, TaskError
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.trials import TrialMaker, Trials

__all__ = ["add_fit_draws"]


def add_fit_draws(
    trials: Trials,
    ordinary: list[Any],
    *,
    is_finite: bool,
    host_first: bool,
    when_lacking: Callable[[OutOfDeviceMemory], None],
) -> list[str]:
    """Add the trials that the task can bear; what is to be said of the others.

    Args:
        trials: With the ordinary one.
        ordinary: Its inputs.
        is_finite: Whether its outputs are.
        host_first: Whether the reference is tried on the CPU first.
        when_lacking: Told of each that memory does not suffice for.

    Raises:
        MachineError: the machine fails in another way.
    """
    notes = []
    for kind in tuple(DrawKind)[1:]:
        try:
            trial = _try(trials.maker, kind, ordinary, is_finite=is_finite, host_first=host_first)
            trials.add(trial)
            del trial  # before the next one is made
        except _Unfit as unfit:
            if isinstance(unfit.__cause__, OutOfDeviceMemory):
                when_lacking(unfit.__cause__)
            notes.append(f"No {kind.value} draw: {unfit}")
    return notes


class _Unfit(Exception):
    """A kind of draw that a task cannot bear; the message says why."""


def _try(
    maker: TrialMaker, kind: DrawKind, ordinary: list[Any], *, is_finite: bool, host_first: bool
) -> Trial:
    """The trial of one more draw.

    Raises:
        _Unfit: where it says nothing new, or eager does not get through it.
    """
    try:
        draw = maker.draw(kind)
        if _same(draw.inputs, ordinary):
            raise _Unfit("it changes nothing.")
        if host_first:
            maker.reference.try_on_host(maker.model, draw.inputs)
        trial = maker.trial(draw)
    except (TaskError, OutOfDeviceMemory) as error:
        raise _Unfit(str(error)) from error
    if is_finite and not trial.is_finite:
        raise _Unfit("eager does not stay finite.")
    if not trial.is_sound:
        raise _Unfit("eager's own error leaves too little room.")
    return trial


def _same(ours: list[Any], theirs: list[Any]) -> bool:
    pairs = zip(tensors_in(ours), tensors_in(theirs), strict=True)
    return all(torch.equal(mine, other) for mine, other in pairs)
