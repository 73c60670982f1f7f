"""Tasks that could stop a whole GPU: where a value out of range is no exception there, but the end.

An index outside of its table, or a probability above 1, raises on the CPU. On a GPU it trips an
assertion within a kernel, and after that the process can use the device no more. So admission tries
what it is not sure of on the CPU first. Not covered: operators of a task's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from torch import nn

from cuda_gym.judge.verification.operator_watch import OperatorWatch
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["is_asserting", "is_fragile"]

_ASSERTING: Final = (
    "binary_cross_entropy", "embedding", "_embedding", "index", "_index", "_unsafe_index", "gather",
    "scatter", "take", "put", "nll_loss", "multi_margin", "multilabel_margin", "multinomial",
    "bernoulli", "bincount", "max_unpool", "_assert", "ctc", "_ctc",
)  # fmt: skip
"""Operators whose kernels check the values that they are given, by how their names begin."""


def is_fragile(reference: ReferenceModule, model: nn.Module, inputs: Sequence[Any]) -> bool:
    """Whether other values or sizes could stop the device of a task; never on the CPU."""
    if reference.device.type == "cpu":
        return False
    names = _Names()
    with names:
        reference.run(model, inputs)
    return is_asserting(names.seen)


def is_asserting(names: Iterable[str]) -> bool:
    """Whether one of the operators checks the values that it is given.

    >>> is_asserting(["relu.default"]), is_asserting(["add.Tensor", "index_add.default"])
    (False, True)
    """
    return any(name.startswith(_ASSERTING) for name in names)


class _Names(OperatorWatch):
    """Remembers which operators are run under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.add(func.__name__)
        return func(*args, **(kwargs or {}))
