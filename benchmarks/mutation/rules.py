"""The rules of others, restated, and an oracle that knows nothing of any judge.

    KernelBench   5 seeds, torch.allclose with rtol = atol = 1e-4 (1e-2 for float16 and bfloat16)
    CUDA Agent    5 draws, torch.testing.assert_close with rtol = atol = 1e-2
    oracle        200 draws of 8 kinds at 5 shapes, and 8 at the task's own, against float64

The oracle takes a mutant for equivalent where on every draw its outputs are those of the right kernel
bit by bit, or err at most 4 times as much as the right kernel ever does on such draws.
"""

from __future__ import annotations

import copy
import hashlib
import time
from collections.abc import Iterator
from typing import Any, Final

import torch
from benchmarks.mutation.draws import KINDS, NUM_DRAWS, TaskModule, shapes_of
from benchmarks.mutation.guarded import GuardedMemory
from benchmarks.mutation.loaded import LoadedSubmission
from torch import Tensor

__all__ = ["calibrate", "passes_cuda_agent", "passes_kernelbench", "try_by_oracle", "usual_sizes"]

_NUM_TRIALS: Final = 5
_AS_EXACT: Final = 4.0
"""How many times as much as the right kernel a mutant may err and still be as exact."""
_UNITS: Final = 2.0
"""Units of roundoff that are forgiven in any case."""


def passes_kernelbench(loaded: LoadedSubmission, source: str) -> bool:
    """Whether KernelBench's correctness rule, as restated above, is met."""
    return _passes(loaded, source, lambda own: 1e-4 if own.dtype == torch.float32 else 1e-2)


def passes_cuda_agent(loaded: LoadedSubmission, source: str) -> bool:
    """Whether the rule of CUDA Agent's verification, as restated above, is met."""
    return _passes(loaded, source, lambda _: 1e-2)


def usual_sizes(loaded: LoadedSubmission, source: str, task_id: str) -> dict[str, dict[str, int]]:
    """The integers that launchers are given at the task's own shape, where another shape has others."""
    found: list[dict[str, dict[str, int]]] = []
    for sizes in shapes_of(task_id, source):
        task = TaskModule.of(source, sizes)
        loaded.outputs(task, *task.usual(seed=0), GuardedMemory(shows=False))
        found.append({name: dict(own) for name, own in loaded.sizes.items()})
    return {
        launcher: {
            name: value
            for name, value in own.items()
            if any(other[launcher][name] != value for other in found)
        }
        for launcher, own in found[-1].items()
    }


def calibrate(
    loaded: LoadedSubmission, source: str, task_id: str, num_draws: int = NUM_DRAWS
) -> dict[str, Any]:
    """What the right kernel gives on every draw, and how much it errs.

    Raises:
        RuntimeError: it leaves its memory, or is wrong.
    """
    digests: list[str] = []
    errors: dict[str, float] = {}
    for shape, number, digest, error in _draws(loaded, source, task_id, num_draws):
        if error == float("inf"):
            raise RuntimeError(f"the right kernel is wrong at shape {shape}, draw {number}")
        digests.append(digest)
        place = _place(shape, number)
        errors[place] = max(errors.get(place, 0.0), error)
    return {"digests": digests, "errors": errors, "num_draws": num_draws}


def try_by_oracle(
    loaded: LoadedSubmission,
    source: str,
    task_id: str,
    calibration: dict[str, Any],
    *,
    budget_s: float,
) -> dict[str, Any]:
    """Where a mutant first differs from what is right, or that it does not.

    Raises:
        Exception: whatever the mutant raises; it is not equivalent then.
    """
    deadline = time.monotonic() + budget_s
    digests, errors = calibration["digests"], calibration["errors"]
    is_identical, count, worst = True, 0, 0.0
    num_draws = int(calibration["num_draws"])
    for shape, number, digest, error in _draws(loaded, source, task_id, num_draws):
        is_identical &= digest == digests[count]
        count += 1
        allowed = _AS_EXACT * errors[_place(shape, number)] + _UNITS
        worst = max(worst, error / allowed)
        if error > allowed:
            kind = KINDS[number % len(KINDS)]
            where = f"{kind}, at {'x'.join(map(str, shape))}"
            return {"equivalent": False, "draws": count, "where": where}
        if time.monotonic() > deadline:
            break
    how = "the same bits" if is_identical else f"as exact ({worst:.2f} of what is allowed)"
    return {"equivalent": True, "draws": count, "where": how}


def _passes(loaded: LoadedSubmission, source: str, tolerance: Any) -> bool:
    task = TaskModule.of(source, None)
    for trial in range(_NUM_TRIALS):
        model, inputs = task.usual(seed=42 + trial)
        expected = _flat(model(*(copy.deepcopy(x) for x in inputs)))
        got = loaded.outputs(task, model, inputs, GuardedMemory(shows=False))
        if len(got) != len(expected):
            return False
        for ours, theirs in zip(got, expected, strict=True):
            most = tolerance(theirs)
            if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
                return False
            if not torch.allclose(ours, theirs, rtol=most, atol=most):
                return False
    return True


def _draws(
    loaded: LoadedSubmission, source: str, task_id: str, num_draws: int
) -> Iterator[tuple[tuple[int, ...], int, str, float]]:
    """(shape, number of the draw, digest of the outputs, error) for all draws, the shapes in turns."""
    shapes = shapes_of(task_id, source)
    tasks = [TaskModule.of(source, sizes) for sizes in shapes]
    for number in range(num_draws):
        for shape, task in zip(shapes, tasks, strict=True):
            if shape == shapes[-1] and len(shapes) > 1 and number >= len(KINDS):
                continue
            memory = GuardedMemory(shows=True)
            model, inputs = task.draw(number)
            got = loaded.outputs(task, model, inputs, memory)
            gold = _gold(model, inputs)
            error = max(_error(*pair, inputs) for pair in zip(got, gold, strict=True))
            digest = hashlib.sha256()
            for output in got:
                digest.update(output.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
            yield (
                shape,
                number,
                digest.hexdigest()[:16],
                float("inf") if memory.was_left() else error,
            )


def _gold(model: Any, inputs: list[Any]) -> list[Tensor]:
    double = copy.deepcopy(model).double()
    wide = [x.double() if isinstance(x, Tensor) and x.is_floating_point() else x for x in inputs]
    with torch.no_grad():
        return _flat(double(*wide))


def _flat(outputs: Any) -> list[Tensor]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def _error(got: Tensor, gold: Tensor, inputs: list[Any]) -> float:
    """The largest error in units of roundoff of the element and its row; infinite for a fault."""
    if got.shape != gold.shape:
        return float("inf")
    if not gold.is_floating_point():
        return 0.0 if _points_at_the_same(got, gold, inputs) else float("inf")
    ours = got.double()
    if not bool(ours.isfinite().all()):
        return float("inf")
    row = gold.square().mean(dim=-1, keepdim=True).sqrt() if gold.ndim else gold.abs()
    scale = (gold.abs() + row).clamp_min(torch.finfo(got.dtype).tiny)
    return float(((ours - gold).abs() / scale).max()) / torch.finfo(got.dtype).eps


def _points_at_the_same(got: Tensor, gold: Tensor, inputs: list[Any]) -> bool:
    """Equal, or positions of equal values in the rows of the input: ties may go either way."""
    if torch.equal(got, gold):
        return True
    rows = inputs[0]
    if not isinstance(rows, Tensor) or rows.shape[:-1] != got.shape:
        return False
    if not bool(((got >= 0) & (got < rows.shape[-1])).all()):
        return False
    return torch.equal(rows.gather(-1, got[..., None]), rows.gather(-1, gold[..., None]))


def _place(shape: tuple[int, ...], number: int) -> str:
    return f"{shape}/{number % len(KINDS)}"
