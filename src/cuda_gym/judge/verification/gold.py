"""What the outputs have to be: better numbers than the task's own dtype can give.

Covered: float64 on the inputs' device, in pieces along a batch dimension where memory forbids the
whole; on the CPU where the device lacks an operator in float64, or memory; and exact outputs of
integer tasks. Where the reference cannot run in float64 at all its own outputs are the gold, which
`Gold.kind` records, so that the budget can be more generous.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from cuda_gym.judge.verification.allocation import is_out_of_memory
from cuda_gym.judge.verification.nests import flatten_outputs, map_tensors, tensors_in

__all__ = ["Gold", "GoldKind", "IndexOutput", "find_index_outputs", "gold_outputs", "values_at"]


@unique
class GoldKind(Enum):
    """Where the expected outputs come from."""

    FLOAT64 = "float64"
    """The reference in double precision."""
    FLOAT64_ON_CPU = "float64 on the CPU"
    """The same, made on the CPU: the device lacks an operator, or memory."""
    EXACT = "exact"
    """Nothing floating goes in: the reference's own outputs are exact."""
    EAGER = "eager"
    """The reference does not run in double precision: its own outputs, in its own dtype."""


@dataclass(frozen=True, kw_only=True)
class Gold:
    """The expected outputs of one draw."""

    outputs: list[Tensor]
    """Flattened, in order; floating ones in float64 unless the kind is eager."""
    kind: GoldKind


@dataclass(frozen=True, kw_only=True)
class IndexOutput:
    """An output of positions in an input: judged by the values there, so that ties do not matter."""

    output: int
    """Which output."""
    tensor: int
    """Which tensor of the inputs it points into."""
    dim: int
    """Along which dimension."""
    keepdim: bool
    """Whether the output still has that dimension."""


def gold_outputs(
    model: nn.Module, inputs: Sequence[Any], eager: Sequence[Tensor], *, chunks: int = 1
) -> Gold:
    """The expected outputs of one draw.

    Args:
        model: In the task's dtype, with the parameters of this judgement.
        inputs: Positional arguments of its `forward`.
        eager: The flattened outputs of the model in the task's dtype on these inputs.
        chunks: Into how many pieces to cut dimension 0 of all tensors, which admission must have
            found to be a batch dimension.

    Raises:
        RuntimeError, MemoryError: where memory suffices neither there nor on the CPU.
    """
    if not _has_floats(model, inputs):
        return Gold(outputs=list(eager), kind=GoldKind.EXACT)
    for place, kind in _places(model, inputs):
        try:
            outputs = _double(model, inputs, eager, chunks, place)
        except (RuntimeError, TypeError, MemoryError) as error:
            if is_out_of_memory(error) and place.type == "cpu":
                raise
            if isinstance(error, NotImplementedError) or is_out_of_memory(error):
                continue  # perhaps on the CPU
            break  # a dtype written out
        if _same_form(outputs, eager):
            moved = [ours.to(theirs.device) for ours, theirs in zip(outputs, eager, strict=True)]
            return Gold(outputs=moved, kind=kind)
        break
    return Gold(outputs=list(eager), kind=GoldKind.EAGER)


def values_at(index: Tensor, inputs: Any, rule: IndexOutput) -> Tensor:
    """The values at the positions that an index output names.

    Raises:
        IndexError: where a position lies outside.
    """
    source = list(tensors_in(inputs))[rule.tensor]
    length = source.shape[rule.dim]
    position = index if rule.keepdim else index.unsqueeze(rule.dim)
    if position.numel() and not bool(((position >= 0) & (position < length)).all()):
        raise IndexError(f"position outside of 0..{length - 1}")
    values = source.gather(rule.dim, position.to(torch.int64))
    return values if rule.keepdim else values.squeeze(rule.dim)


def find_index_outputs(inputs: Any, outputs: Sequence[Tensor]) -> tuple[IndexOutput, ...]:
    """Which integer outputs are positions of largest, smallest or sorted values of an input."""
    if not any(x.is_floating_point() for x in tensors_in(inputs)):
        return ()
    found = []
    for number, output in enumerate(outputs):
        if output.dtype in (torch.int32, torch.int64) and output.numel():
            rules = (r for r in _fitting(number, output, inputs) if _explains(r, output, inputs))
            found += [rule for rule in (next(rules, None),) if rule]
    return tuple(found)


def _fitting(number: int, output: Tensor, inputs: Any) -> Iterator[IndexOutput]:
    """Every floating input and dimension that the shape of an output could be an index into."""
    for place, tensor in enumerate(tensors_in(inputs)):
        for dim in range(tensor.ndim) if tensor.is_floating_point() else ():
            others = tensor.shape[:dim] + tensor.shape[dim + 1 :]
            if output.shape == others:
                yield IndexOutput(output=number, tensor=place, dim=dim, keepdim=False)
            elif (
                output.ndim == tensor.ndim
                and output.shape[:dim] + output.shape[dim + 1 :] == others
            ):
                yield IndexOutput(output=number, tensor=place, dim=dim, keepdim=True)


def _explains(rule: IndexOutput, output: Tensor, inputs: Any) -> bool:
    """Whether the values there are the largest, the smallest, or in order."""
    try:
        values = values_at(output, inputs, rule)
    except IndexError:
        return False
    source = list(tensors_in(inputs))[rule.tensor]
    if rule.keepdim and output.shape[rule.dim] > 1:
        steps = values.diff(dim=rule.dim)
        return bool((steps <= 0).all() or (steps >= 0).all())
    ends = (source.amax(rule.dim, rule.keepdim), source.amin(rule.dim, rule.keepdim))
    return any(torch.equal(values, end) for end in ends)


def _has_floats(model: nn.Module, inputs: Sequence[Any]) -> bool:
    held = (*model.state_dict().values(), *tensors_in(list(inputs)))
    return any(tensor.is_floating_point() or tensor.is_complex() for tensor in held)


def _doubled(place: torch.device, tensor: Tensor) -> Tensor:
    if tensor.is_complex():
        return tensor.to(place, torch.complex128)
    return tensor.to(place, torch.float64) if tensor.is_floating_point() else tensor.to(place)


def _places(model: nn.Module, inputs: Sequence[Any]) -> Iterator[tuple[torch.device, GoldKind]]:
    """Where to try double precision, and what it is called there."""
    held = (*tensors_in(list(inputs)), *model.state_dict().values())
    device = held[0].device
    yield device, GoldKind.FLOAT64
    if device.type != "cpu":
        yield torch.device("cpu"), GoldKind.FLOAT64_ON_CPU


def _double(
    model: nn.Module,
    inputs: Sequence[Any],
    eager: Sequence[Tensor],
    chunks: int,
    place: torch.device,
) -> list[Tensor]:
    """The outputs in double precision; in pieces they are laid into the whole one by one."""
    double = copy.deepcopy(model).to(place).double()
    wholes: list[Tensor] = []
    with torch.no_grad():
        for start, piece in _pieces(inputs, chunks):
            parts = flatten_outputs(double(*map_tensors(piece, partial(_doubled, place))))[0]
            if chunks == 1 or len(parts) != len(eager):
                return parts
            if not wholes:
                pairs = zip(parts, eager, strict=True)
                wholes = [part.new_empty(like.shape) for part, like in pairs]
            for whole, part in zip(wholes, parts, strict=True):
                whole[start : start + len(part)] = part
    return wholes


def _pieces(inputs: Sequence[Any], chunks: int) -> Iterator[tuple[int, list[Any]]]:
    """Each piece of the batch, and where it begins."""
    if chunks == 1:
        yield 0, list(inputs)
        return
    length = next(tensors_in(list(inputs))).shape[0]
    for start in range(0, length, -(-length // chunks)):
        yield start, map_tensors(list(inputs), partial(_rows, start, start + -(-length // chunks)))


def _rows(start: int, stop: int, tensor: Tensor) -> Tensor:
    return tensor[start:stop]


def _same_form(outputs: Sequence[Tensor], eager: Sequence[Tensor]) -> bool:
    """Equal shapes, and float64 wherever the reference is floating.

    A float32 output of a doubled model means that the source writes its dtype out.
    """
    return len(outputs) == len(eager) and all(
        ours.shape == theirs.shape
        and (ours.dtype == torch.float64 or not theirs.is_floating_point())
        for ours, theirs in zip(outputs, eager, strict=False)
    )
