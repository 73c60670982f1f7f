"""What the oracle draws, and what has to come out: none of it is code of the judge.

Covered: eight kinds of inputs, other parameters, five shapes
of every task besides its own. Not covered: NaN and
infinities, which a task does not promise anything about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

__all__ = ["KINDS", "NUM_DRAWS", "TaskModule", "shapes_of"]

_CONSTANT: Final = re.compile(r"(?m)^(\w+) = (\d+)$")

NUM_DRAWS: Final = 200
"""Draws at each shape, but for the own one of a task, which is large."""

KINDS: Final = (
    "as the task draws",
    "wide",
    "small",
    "shifted",
    "heavy tails",
    "ties",
    "sparse",
    "constant rows",
)

_SIZES: Final = ((7, 13, 5, 9), (33, 100, 17, 1), (65, 67, 64, 35), (3, 515, 2, 2), (2, 31, 6, 3))
_IMAGES: Final = ((7, 13, 5, 9), (3, 10, 17, 1), (2, 3, 64, 35), (1, 5, 2, 2), (2, 31, 6, 3))
_OTHER_SIZES: Final[dict[str, tuple[tuple[int, ...], ...]]] = {
    "core/attention": (
        (2, 1, 33, 35),
        (1, 2, 32, 32),
        (1, 1, 67, 64),
        (2, 3, 130, 17),
        (1, 1, 5, 7),
    ),
    "core/batch_norm_relu": _IMAGES,
    "core/batched_matmul": (
        (7, 13, 5, 9),
        (3, 33, 17, 1),
        (2, 67, 64, 35),
        (1, 1, 2, 2),
        (2, 31, 6, 3),
    ),
    "core/global_avg_pool": _IMAGES,
    "core/max_pool2d": _IMAGES,
    "core/conv2d_relu": (
        (2, 3, 5, 9, 7),
        (1, 8, 8, 32, 32),
        (2, 5, 17, 3, 33),
        (1, 2, 9, 4, 100),
        (3, 1, 1, 6, 5),
    ),
    "core/depthwise_conv3x3": (
        (7, 3, 5, 2),
        (2, 3, 7, 33),
        (1, 5, 2, 34),
        (3, 2, 3, 99),
        (2, 2, 1, 65),
    ),
    "core/group_norm": (
        (2, 1, 3, 5, 2),
        (7, 3, 9, 5, 1),
        (3, 2, 12, 17, 13),
        (2, 5, 5, 33, 31),
        (1, 2, 4, 6, 11),
    ),
    "core/pixel_shuffle": (
        (3, 2, 5, 9, 2),
        (2, 3, 7, 33, 3),
        (1, 2, 9, 150, 2),
        (1, 1, 3, 131, 4),
        (2, 1, 6, 17, 2),
    ),
    "core/rotary_embedding": (
        (2, 13, 5, 9, 31),
        (3, 7, 17, 33, 7),
        (2, 5, 3, 64, 64),
        (1, 9, 12, 5, 20),
        (5, 1, 1, 8, 9),
    ),
}
"""For tasks whose constants are more than four, or depend on each other."""


def shapes_of(task_id: str, source: str) -> tuple[tuple[int, ...], ...]:
    """Values for the constants of a task, in their order; its own shape comes last.

    A constant that the constructor is given keeps its value: a submission is made for one model, and
    what it would do in another is nobody's fault. Where all are such there is one shape.
    """
    constants = {m[1]: int(m[2]) for m in _CONSTANT.finditer(source)}
    constructor = source[source.index("def get_init_inputs") :]
    fixed = {name for name in constants if re.search(rf"\b{name}\b", constructor)}
    own = tuple(constants.values())
    shapes = [
        tuple(
            constants[name] if name in fixed else value
            for name, value in zip(constants, sizes, strict=False)
        )
        for sizes in _OTHER_SIZES.get(task_id, _SIZES)
    ]
    return (*dict.fromkeys(shape for shape in shapes if shape != own), own)


@dataclass(frozen=True)
class TaskModule:
    """The reference of a task at one shape."""

    namespace: dict[str, Any]

    @classmethod
    def of(cls, source: str, sizes: Sequence[int] | None) -> TaskModule:
        """Execute the source, with other values for its constants where some are given."""
        if sizes is not None:
            values = iter(sizes)
            source = _CONSTANT.sub(lambda m: f"{m[1]} = {next(values)}", source)
        namespace: dict[str, Any] = {"__name__": "task"}
        exec(compile(source, "task", "exec"), namespace)
        return cls(namespace)

    def init_inputs(self) -> list[Any]:
        """What the constructor is given."""
        return list(self.namespace["get_init_inputs"]())

    def usual(self, seed: int) -> tuple[nn.Module, list[Any]]:
        """A model and inputs as the task makes them under a seed."""
        torch.manual_seed(seed)
        model: nn.Module = self.namespace["Model"](*self.init_inputs())
        torch.manual_seed(seed)
        return model.eval().requires_grad_(False), list(self.namespace["get_inputs"]())

    def draw(self, number: int) -> tuple[nn.Module, list[Any]]:
        """A model and inputs of the oracle; the kinds take turns, every other model is changed."""
        model, inputs = self.usual(seed=7_000_003 + number)
        if number % 2:
            _change_parameters(model)
        return model, [_varied(x, number % len(KINDS)) for x in inputs]


def _change_parameters(model: nn.Module) -> None:
    state: dict[str, Tensor] = dict(model.named_parameters())
    state |= {name: x for name, x in model.named_buffers() if "running_" in name}
    for tensor in state.values():
        if not tensor.is_floating_point():
            continue
        if bool((tensor == 0).all()):
            tensor.add_(0.5 * torch.randn(tensor.shape).to(tensor.dtype))
        else:
            tensor.mul_((0.5 + torch.rand(tensor.shape)).to(tensor.dtype))


def _varied(value: Any, kind: int) -> Any:
    """One input of a kind; what is no floating tensor stays, and so does a sign that all share."""
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return value
    x = value.float()
    kinds: tuple[Callable[[], Tensor], ...] = (
        lambda: x,
        lambda: x * 8.0,
        lambda: x / 256.0,
        lambda: x + 30.0,
        lambda: x / (torch.rand(x.shape) + 0.05),
        lambda: (x * 2.0).round() / 2.0,
        lambda: x * (torch.rand(x.shape) < 0.1),
        lambda: x[..., :1].expand_as(x) if x.ndim else x,
    )
    changed = kinds[kind]()
    if bool((x >= 0).all()):
        changed = changed.abs()
    return changed.to(value.dtype).contiguous()
