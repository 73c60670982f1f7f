"""How much memory a run holds at once, as far as its tensors tell.

Not covered: workspaces that an operator allocates and frees within itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from cuda_gym.errors import BadTask, NotAdmitted
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["gold_chunks", "peak_bytes"]


def peak_bytes(run: Callable[[], Any], held: Iterable[Tensor]) -> tuple[Any, int]:
    """Call `run`; return what it returned, and the most bytes that tensors held meanwhile.

    Args:
        run: The work.
        held: Tensors that are there anyway: inputs and parameters.

    >>> x = torch.ones(1000)
    >>> peak_bytes(lambda: (x + 1).sum(), [x])[1]
    8004
    """
    watch = _Watch()
    for tensor in held:
        watch.see(tensor)
    with watch:
        result = run()
    return result, watch.peak


def gold_chunks(
    reference: ReferenceModule,
    model: nn.Module,
    inputs: list[Any],
    *,
    peak: int,
    memory_bytes: int | None,
) -> int:
    """Into how many pieces gold has to be cut: it takes twice the memory, beside the eager run.

    Args:
        reference: The task.
        model: Its model.
        inputs: Of an ordinary draw.
        peak: Most bytes that one eager run holds.
        memory_bytes: What may be held at most; None for no limit.

    Raises:
        NotAdmitted: where one run is too large, or gold is and there is no batch to cut.
    """
    if memory_bytes is None or 3 * peak <= memory_bytes:
        return 1
    if peak >= memory_bytes or not _is_batched(reference, model, inputs):
        raise NotAdmitted(
            f"{reference.name}: one run holds {peak:,} bytes, its gold twice as many, and "
            f"{memory_bytes:,} are allowed. Make its shapes smaller."
        )
    return -(-2 * peak // (memory_bytes - peak))


def _is_batched(reference: ReferenceModule, model: nn.Module, inputs: list[Any]) -> bool:
    """Whether dimension 0 of all tensors is a batch: half of the inputs gives half the outputs."""
    sizes = {tuple(tensor.shape[:1]) for tensor in tensors_in(inputs)}
    if len(sizes) != 1 or sizes == {()}:
        return False
    half = sizes.pop()[0] // 2
    whole = reference.run(model, inputs)
    if not half or not all(output.ndim for output in whole):
        return False
    try:
        part = reference.run(model, map_tensors(inputs, lambda x: x[:half]))
    except BadTask:
        return False
    return all(_alike(ours, theirs[:half]) for ours, theirs in zip(part, whole, strict=True))


def _alike(ours: Tensor, theirs: Tensor) -> bool:
    """Equal up to rounding: an operator may choose another order for another size."""
    if ours.shape != theirs.shape:
        return False
    scale = float(theirs.double().square().mean().sqrt())
    return torch.allclose(ours.double(), theirs.double(), rtol=1e-3, atol=1e-3 * scale)


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Follows which storages some living tensor refers to."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._now = 0
        self._owners: dict[int, int] = {}

    def see(self, tensor: Tensor) -> None:
        """Count a tensor until it dies; tensors that share a storage count once."""
        storage = tensor.untyped_storage()
        place, size = storage.data_ptr(), storage.nbytes()
        if place not in self._owners:
            self._now += size
            self.peak = max(self.peak, self._now)
        self._owners[place] = self._owners.get(place, 0) + 1
        weakref.finalize(tensor, self._forget, place, size).atexit = False

    def _forget(self, place: int, size: int) -> None:
        self._owners[place] -= 1
        if not self._owners[place]:
            del self._owners[place]
            self._now -= size

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tensors_in(result):
            self.see(tensor)
        return result
