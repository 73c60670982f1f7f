"""Does every input and every parameter matter? What does not can be left out unseen."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.judge.verification.inputs import perturbed_state
from cuda_gym.judge.verification.nests import flatten_outputs, map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial

__all__ = ["idle_inputs", "idle_parameters", "influential_bytes"]

MOST_PARAMETERS: Final = 64
"""Each costs a run of the reference; beyond this many only so many, evenly spaced, are tried."""


def idle_inputs(
    reference: ReferenceModule,
    model: nn.Module,
    trials: Iterable[Trial],
    other: Sequence[Any],
    *,
    host_first: bool = False,
) -> list[int]:
    """Which tensors of the inputs can be exchanged without a wrong output, on every trial.

    Args:
        reference: The task.
        model: With the parameters of the trials.
        trials: All draws that the task will be judged by.
        other: Inputs of another seed, in the shapes of the first trial.
        host_first: Whether a run with exchanged inputs is tried on the CPU first.
    """
    others = list(tensors_in(list(other)))
    return [
        place
        for place, theirs in enumerate(others)
        if not any(
            _input_matters(reference, model, trial, place, theirs, host_first) for trial in trials
        )
    ]


def idle_parameters(
    reference: ReferenceModule, model: nn.Module, trials: Iterable[Trial], seed: int
) -> list[str]:
    """Which floating parameters can be changed without a wrong output, on every trial."""
    state = perturbed_state(model, seed)
    named = [(name, p) for name, p in model.named_parameters() if _has_values(p)]
    step = -(-len(named) // MOST_PARAMETERS) or 1
    idle = []
    for name, parameter in named[::step]:
        before = parameter.detach().clone()
        with torch.no_grad():
            parameter.copy_(state[name])
        matters = any(
            not trial.accepts(reference.run(model, trial.draw.inputs)) for trial in trials
        )
        with torch.no_grad():
            parameter.copy_(before)
        if not matters:
            idle.append(name)
    return idle


def influential_bytes(model: nn.Module, inputs: Sequence[Any]) -> int:
    """Bytes of the floating inputs whose gradient is not zero: a lower bound of what must be read.

    A lower bound, because an element that lost a maximum was read as well. Zero where the
    reference has no gradient.
    """
    inputs = map_tensors(list(inputs), _requiring_gradient)
    leaves = [x for x in tensors_in(inputs) if x.requires_grad]
    if not leaves:
        return 0
    try:
        outputs = [x for x in flatten_outputs(model(*inputs))[0] if x.requires_grad]
        weights = _weights_of(outputs)
        gradients = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
    except RuntimeError:  # no output depends on an input by a differentiable path
        return 0
    return sum(int(g.count_nonzero()) * g.element_size() for g in gradients if g is not None)


def _weights_of(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Another one for each element of all outputs, so that gradients do not cancel."""
    device = outputs[0].device if outputs else torch.device("cpu")
    generator = torch.Generator(device).manual_seed(0)
    return [
        torch.rand(x.shape, generator=generator, device=device).add_(0.5).to(x) for x in outputs
    ]


def _input_matters(
    reference: ReferenceModule,
    model: nn.Module,
    trial: Trial,
    place: int,
    theirs: Tensor,
    host_first: bool,
) -> bool:
    changed = _exchanged(list(tensors_in(trial.draw.inputs))[place], theirs)
    if changed is None:
        return True
    places = itertools.count()
    inputs = map_tensors(trial.draw.inputs, lambda x: changed if next(places) == place else x)
    if host_first:
        reference.try_on_host(model, inputs)
    return not trial.accepts(reference.run(model, inputs))


def _exchanged(ours: Tensor, theirs: Tensor) -> Tensor | None:
    """Another content of the same domain; None where there is none to be had."""
    if ours.shape == theirs.shape and not torch.equal(ours, theirs):
        return theirs
    if not ours.numel():
        return None
    if ours.is_floating_point() or ours.is_complex():
        return ours * 1.5 + 0.5
    if ours.dtype == torch.bool:
        return ~ours
    turned = ours.flatten().flip(0).view(ours.shape)
    return None if torch.equal(turned, ours) else turned


def _has_values(parameter: Tensor) -> bool:
    return parameter.is_floating_point() and parameter.numel() > 0


def _requiring_gradient(tensor: Tensor) -> Tensor:
    return tensor.detach().requires_grad_() if tensor.is_floating_point() else tensor
