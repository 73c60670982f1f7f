"""How much memory a run holds at once, and in how many pieces gold is made so that memory suffices.

Covered: all that torch allocates on a GPU; on the CPU what its tensors tell. Not covered: there,
workspaces that an operator allocates and frees within itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.errors import BadTask, NotAdmitted
from cuda_gym.judge.profiling.memory_budget import LARGE_BYTES
from cuda_gym.judge.verification.allocation import free_bytes
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.operator_watch import OperatorWatch
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.slices import most_elements, pieces_of

__all__ = ["gold_chunks", "held_bytes", "peak_bytes", "run_bytes"]

PIECE_BYTES: Final = 2**28
"""Of the gold of a run that is large: it is made in pieces of this size, where it has a batch."""
CONTEXT_BYTES: Final = 2**30
"""Of a second process with a context and workspaces of its own, and pieces of a comparison."""


def peak_bytes(
    run: Callable[[], Any], held: Iterable[Tensor], device: torch.device | None = None
) -> tuple[Any, int]:
    """Call `run`; return what it returned, and the most bytes that tensors held meanwhile.

    Args:
        run: The work.
        held: Tensors that are there anyway: inputs and parameters.
        device: Where they are; the CPU where it is None.

    >>> x = torch.ones(1000)
    >>> peak_bytes(lambda: (x + 1).sum(), [x])[1]
    8004
    """
    watch = _Watch()
    tensors = list(held)
    for tensor in tensors:
        watch.see(tensor)
    if device is None or device.type != "cuda":
        with watch:
            result = run()
        return result, watch.peak
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    result = run()
    return result, watch.peak + torch.cuda.max_memory_allocated(device) - before


def run_bytes(device: torch.device, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> int | None:
    """What a run of the reference may hold at most, beside all that a judgement needs elsewhere.

    That is the candidate's inputs and outputs, what it allocates itself, and the gold of all pieces.

    Args:
        device: Where the task runs.
        inputs: Of an ordinary draw, on that device already.
        outputs: Of a run, likewise.

    Returns:
        None where nobody knows how much is free.
    """
    free = free_bytes(device)
    if free is None:
        return None
    given, made = held_bytes(list(inputs)), held_bytes(list(outputs))
    gold = sum(8 * x.numel() for x in outputs if x.is_floating_point())
    return free + given + made - (given + 2 * made + gold) - CONTEXT_BYTES


def gold_chunks(
    reference: ReferenceModule,
    model: nn.Module,
    inputs: list[Any],
    *,
    peak: int,
    memory_bytes: int | None,
) -> int:
    """Into how many pieces gold is cut: it takes twice the memory, beside the eager run.

    Where memory suffices, only what is large is cut, so that others find room beside it.

    Args:
        reference: The task.
        model: Its model.
        inputs: Of an ordinary draw.
        peak: Most bytes that one eager run holds.
        memory_bytes: What may be held at most; None for no limit.

    Raises:
        NotAdmitted: where one run is too large, or gold is and there is no batch to cut.
    """
    if memory_bytes is None:
        return 1
    is_short = 3 * peak > memory_bytes
    if not is_short and peak <= LARGE_BYTES:
        return 1
    if peak >= memory_bytes or not _is_batched(reference, model, inputs):
        if not is_short:
            return 1
        raise NotAdmitted(
            f"{reference.name}: one run holds {peak:,} bytes, its gold twice as many, and "
            f"{memory_bytes:,} are allowed. Make its shapes smaller."
        )
    room = memory_bytes - peak
    return -(-2 * peak // (min(room, PIECE_BYTES) if peak > LARGE_BYTES else room))


def held_bytes(*nests: Any) -> int:
    """Bytes of the tensors in nests; tensors that share their memory count once."""
    storages = {
        (x.device, storage.data_ptr()): storage.nbytes()
        for nest in nests
        for x in tensors_in(nest)
        for storage in (x.untyped_storage(),)
    }
    return sum(storages.values())


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
    ours, theirs = ours.flatten(), theirs.flatten()
    pieces = list(pieces_of(ours.numel(), 1, most_elements(ours.device)))
    norms = [torch.linalg.vector_norm(piece.of(theirs).double()) for piece in pieces]
    scale = float(torch.stack(norms).square().sum() / ours.numel()) ** 0.5 if norms else 0.0
    pairs = ((piece.of(ours).double(), piece.of(theirs).double()) for piece in pieces)
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-3 * scale) for a, b in pairs)


class _Watch(OperatorWatch):
    """Follows which storages some living tensor refers to."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._now = 0
        self._owners: dict[int, int] = {}

    def see(self, tensor: Tensor) -> None:
        """Count a tensor until it dies; tensors that share a storage count once."""
        if tensor.is_meta:  # a form without memory
            return
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
