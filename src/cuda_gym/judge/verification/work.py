"""What a task asks of any submission in one call: bytes to move, arithmetic to do.

Covered: inputs, parameters and buffers that an output depends on, each byte once; floating elements
that are never looked at (what a gather leaves out, the other half of a triangle) do not count. FLOPs
of products, convolutions and attention by torch's own formulas; one an element of every other operator.

Not covered: integers that are not looked at (all count), and intermediate results, which a fused kernel
need not write.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import flop_registry

from cuda_gym.core.verdict import Work
from cuda_gym.judge.verification.fragile import is_asserting
from cuda_gym.judge.verification.nests import flatten_outputs, map_tensors, tensors_in
from cuda_gym.judge.verification.operator_watch import OperatorWatch

__all__ = ["read_work", "work_of"]

_FREE = (
    "view", "reshape", "expand", "permute", "transpose", "slice", "select", "squeeze", "unsqueeze",
    "split", "chunk", "unbind", "detach", "alias", "as_strided", "t.", "unfold", "narrow", "flip", "roll",
    "empty", "zeros", "ones", "full", "arange", "fill", "clone", "copy", "_to_copy", "lift", "cat", "stack",
    "index.", "index_select", "gather", "take", "embedding", "pixel_shuffle", "constant_pad",
)  # fmt: skip
"""Operators that move or make values and compute none, by how their names begin."""
_TWICE = ("mv", "addmv", "dot", "vdot")
"""Products without a formula: a multiplication and an addition for each element of the larger operand."""
_UNCOUNTED = (
    "mkldnn_rnn", "_cudnn_rnn", "_thnn", "lstm", "gru", "rnn", "_fft", "_linalg", "linalg_inv", "linalg_lu",
    "linalg_qr", "linalg_svd", "linalg_eig", "linalg_cholesky", "cholesky", "sort", "topk",
)  # fmt: skip
_SAME_WORK = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: (
        torch.ops.aten._scaled_dot_product_flash_attention
    )
}
"""Operators that torch has no formula for, and those that do the same."""


def work_of(model: nn.Module, inputs: Sequence[Any]) -> Work:
    """Run the reference a few times, and see what it needs.

    >>> work_of(nn.ReLU(), [torch.ones(8, 4)])
    Work(read_bytes=128, written_bytes=128, flops=32.0, number_format='float32')
    """
    inputs = map_tensors(list(inputs), torch.clone)
    counter = _FlopCounter()
    with torch.no_grad(), counter:
        outputs, _ = flatten_outputs(model(*inputs))
    written_bytes = sum(x.numel() * x.element_size() for x in outputs)
    del outputs
    if is_asserting(counter.names):  # a NaN among their values would stop a GPU
        model, inputs = copy.deepcopy(model).cpu(), map_tensors(inputs, lambda x: x.cpu())
    return Work(
        read_bytes=_read_bytes(model, inputs),
        written_bytes=written_bytes,
        flops=counter.flops,
    )


def read_work(plain: Mapping[str, object] | None) -> Work | None:
    """What was remembered; None where that cannot be used."""
    try:
        values = {name: (plain or {})[name] for name in ("read_bytes", "written_bytes", "flops")}
        flops = values["flops"]
        return Work(
            read_bytes=int(str(values["read_bytes"])),
            written_bytes=int(str(values["written_bytes"])),
            flops=None if flops is None else float(str(flops)),
            number_format=str((plain or {}).get("number_format", "float32")),
        )
    except (KeyError, ValueError):
        return None


class _FlopCounter(OperatorWatch):
    """Adds up the operators that are run under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops: float | None = 0.0
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        del types
        named = dict(kwargs or {})
        value = func(*args, **named)
        formula = flop_registry.get(_SAME_WORK.get(func.overloadpacket, func.overloadpacket))
        name: str = func.__name__
        self.names.add(name)
        if formula is not None:
            self._add(float(formula(*args, **named, out_val=value)))
        elif name.startswith(_UNCOUNTED):
            self.flops = None
        elif not name.startswith(_FREE):
            tensors = tensors_in([*args, *named.values(), value])
            times = 2 if name.partition(".")[0] in _TWICE else 1
            self._add(float(times * max((x.numel() for x in tensors), default=0)))
        return value

    def _add(self, flops: float) -> None:
        self.flops = None if self.flops is None else self.flops + flops


def _read_bytes(model: nn.Module, inputs: Sequence[Any]) -> int:
    """Bytes of every tensor, without the floating elements that no output looks at."""
    floating = [x for x in _leaves(model, inputs) if x.is_floating_point()]
    others = [x for x in _leaves(model, inputs) if not x.is_floating_point()]
    unseen = _unseen_elements(model, inputs, floating)
    read = ((x.numel() - idle) * x.element_size() for x, idle in zip(floating, unseen, strict=True))
    return sum(read) + sum(x.numel() * x.element_size() for x in others)


def _unseen_elements(
    model: nn.Module, inputs: Sequence[Any], floating: Sequence[Tensor]
) -> list[int]:
    """How many elements of each tensor may be NaN, and no output changes.

    Only elements without a gradient are tried: whatever has one was looked at. An element that lost a
    maximum has none and was looked at all the same, which the NaN shows.
    """
    suspects = _without_gradient(model, inputs, floating)
    expected = _outputs(model, inputs)
    return [
        _unseen_of(model, inputs, expected, tensor, mask)
        if mask is not None and bool(mask.any())
        else 0
        for tensor, mask in zip(floating, suspects, strict=True)
    ]


def _unseen_of(
    model: nn.Module,
    inputs: Sequence[Any],
    expected: Sequence[Tensor],
    tensor: Tensor,
    mask: Tensor,
) -> int:
    """The masked elements, if all of them may be NaN; the tensor is left as it was."""
    before = tensor.detach().clone()
    try:
        with torch.no_grad():
            tensor.masked_fill_(mask, math.nan)
        is_unseen = _are_equal(expected, _outputs(model, inputs))
    except Exception:  # noqa: BLE001 - a task's own code may raise anything where it meets a NaN
        is_unseen = False
    finally:
        with torch.no_grad():
            tensor.copy_(before)
    return int(mask.sum()) if is_unseen else 0


def _without_gradient(
    model: nn.Module, inputs: Sequence[Any], floating: Sequence[Tensor]
) -> list[Tensor | None]:
    """Where each tensor's gradient is zero; None where it cannot be known."""
    unknown: list[Tensor | None] = [None] * len(floating)
    if not floating:
        return unknown
    required = [x.requires_grad for x in floating]
    try:
        for x in floating:
            x.requires_grad_()
        outputs = [x for x in flatten_outputs(model(*inputs))[0] if x.requires_grad]
        weights = [
            torch.linspace(0.5, 1.5, x.numel(), device=x.device).view(x.shape).to(x)
            for x in outputs
        ]
        gradients = torch.autograd.grad(outputs, floating, weights, allow_unused=True)
    except RuntimeError:  # no output depends on an input by a differentiable path
        return unknown
    finally:
        for x, was in zip(floating, required, strict=True):
            x.requires_grad_(was)
    return [None if g is None else g == 0 for g in gradients]


def _leaves(model: nn.Module, inputs: Sequence[Any]) -> list[Tensor]:
    """Every tensor once."""
    tensors = [*tensors_in(list(inputs)), *model.state_dict(keep_vars=True).values()]
    return list({id(x): x for x in tensors if isinstance(x, Tensor)}.values())


def _outputs(model: nn.Module, inputs: Sequence[Any]) -> list[Tensor]:
    with torch.no_grad():
        return [x.clone() for x in flatten_outputs(model(*inputs))[0]]


def _are_equal(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> bool:
    return all(
        torch.allclose(a, b, rtol=1e-6, atol=0.0, equal_nan=True)
        if a.is_floating_point()
        else torch.equal(a, b)
        for a, b in zip(ours, theirs, strict=True)
    )
