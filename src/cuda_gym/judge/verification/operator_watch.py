"""Seeing every operator of an eager run, without torch's compiler.

PyTorch keeps its compiler away from such a mode, and loads all of it for that at the first operator.
Under our modes nothing is compiled, so there is nothing to keep away, and no new process has to wait.
"""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["OperatorWatch"]


class OperatorWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode for eager runs; what it does with an operator is its subclass's `__torch_dispatch__`."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
