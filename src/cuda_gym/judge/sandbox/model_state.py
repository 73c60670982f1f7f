"""Has ModelNew the parameters and buffers of Model? Weights are handed over by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from cuda_gym.judge.sandbox import transport
from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.telling import Told, place_of_attribute, told

__all__ = ["check_state", "own_state"]


def own_state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The tensors of a model's state_dict; what else a module keeps there is its own affair.

    Raises:
        Told: it has none that can be read.
    """
    with told("ModelNew.state_dict()"):
        state = model.state_dict()
        return {name: held for name, held in state.items() if isinstance(held, torch.Tensor)}


def check_state(own: Mapping[str, torch.Tensor], specs: Mapping[str, TensorSpec]) -> None:
    """Let pass the names, shapes and dtypes of the reference's state_dict, and nothing else.

    Raises:
        Told: with what differs, where it is in `model_new.py`, and the way out.
    """
    missing, surplus = sorted(specs.keys() - own.keys()), sorted(own.keys() - specs.keys())
    if missing or surplus:
        raise Told("raised", _state_message(own, specs, missing, surplus))
    for name, spec in specs.items():
        tensor = own[name]
        if tuple(tensor.shape) != spec.shape or transport.dtype_name(tensor.dtype) != spec.dtype:
            raise Told(
                "raised",
                f"ModelNew's {name} is {transport.dtype_name(tensor.dtype)} "
                f"{tuple(tensor.shape)}; Model's is {spec.dtype} {spec.shape}. Keep them equal.",
            )


def _state_message(
    own: Mapping[str, torch.Tensor],
    specs: Mapping[str, TensorSpec],
    missing: Sequence[str],
    surplus: Sequence[str],
) -> str:
    """Which names differ, and which of ours seem to be which of Model's."""
    facts = ["ModelNew must have the state_dict of Model."]
    if missing:
        facts.append(f"Missing: {', '.join(map(_placed, missing))}.")
    if surplus:
        facts.append(f"Not in Model: {', '.join(map(_placed, surplus))}.")
    renamed = [
        f"{ours} to {theirs}"
        for ours in surplus
        for theirs in missing
        if tuple(own[ours].shape) == specs[theirs].shape
    ]
    if renamed:
        facts.append(f"Rename {renamed[0]}.")
    elif surplus:
        facts.append(
            "Keep such tensors out of the state_dict: register_buffer(..., persistent=False)."
        )
    else:
        facts.append(
            "Give ModelNew each as Model has it: self.name = nn.Parameter(...), or a buffer."
        )
    return " ".join(facts)


def _placed(name: str) -> str:
    place = place_of_attribute(name.partition(".")[0])
    return f"{name} ({place})" if place else name
