"""Tensors inside lists, tuples and dicts: a reference's arguments and its outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from cuda_gym.errors import BadTask

__all__ = ["flatten_outputs", "map_tensors", "tensors_in"]


def map_tensors(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The same nest of lists and tuples with every tensor replaced.

    >>> map_tensors([torch.zeros(1), (2, torch.ones(1))], lambda x: x + 1)
    [tensor([1.]), (2, tensor([2.]))]
    """
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        mapped = [map_tensors(item, function) for item in value]
        return mapped if isinstance(value, list) else tuple(mapped)
    return value


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors of a nest of lists and tuples, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def flatten_outputs(outputs: Any) -> tuple[list[Tensor], str]:
    """The tensors of what `forward` returned, and the shape of the nest in words.

    Numbers count as tensors without dimensions, in the widest dtype of their sort.

    >>> flatten_outputs((torch.zeros(2), {"loss": 3}))[1]
    '(tensor, {loss: number})'

    Raises:
        BadTask: where something else was returned.
    """
    tensors: list[Tensor] = []
    return tensors, _flatten_into(tensors, outputs)


def _flatten_into(tensors: list[Tensor], value: Any) -> str:
    if isinstance(value, Tensor):
        tensors.append(torch.view_as_real(value.resolve_conj()) if value.is_complex() else value)
        return "tensor"
    if isinstance(value, (bool, int, float)):
        dtype = {bool: torch.bool, int: torch.int64, float: torch.float64}[type(value)]
        tensors.append(torch.tensor(value, dtype=dtype))
        return "number"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_flatten_into(tensors, item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k}: {_flatten_into(tensors, item)}" for k, item in value.items())
        return f"{{{inner}}}"
    if value is None:
        return "None"
    raise BadTask(
        f"forward() returned a {type(value).__name__}; outputs are tensors, numbers, and lists, "
        "tuples or dicts of them."
    )
