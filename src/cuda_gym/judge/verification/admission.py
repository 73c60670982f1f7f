"""Can this task be judged fairly, and how? Decided once, by trying, before anybody is judged.

Covered: eager's own error, determinism, inputs that forward() changes, outputs that took no work,
inputs and parameters that do not matter, the shapes that are free, peak memory. Not covered:
near misses that need insight into the task; mutation testing measures those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.core.plain import as_plain
from cuda_gym.errors import NotAdmitted, OutOfDeviceMemory
from cuda_gym.judge.verification.degenerate import passing_degenerate
from cuda_gym.judge.verification.fit_draws import add_fit_draws
from cuda_gym.judge.verification.fragile import is_fragile
from cuda_gym.judge.verification.free_dimensions import find_free_dimensions
from cuda_gym.judge.verification.gold import GoldKind, IndexOutput, find_index_outputs
from cuda_gym.judge.verification.influence import (
    idle_inputs,
    idle_parameters,
    influential_bytes,
)
from cuda_gym.judge.verification.inputs import Draw, DrawKind, draw_inputs, perturbed_state
from cuda_gym.judge.verification.memory import gold_chunks, peak_bytes, run_bytes
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.trial import Trial
from cuda_gym.judge.verification.trials import TrialMaker, Trials

__all__ = ["Admission", "OutputSpec", "admit"]

MIN_DRAWS: Final = 5
"""Draws of a judgement; where fewer kinds are fit, the ordinary one is repeated."""


@dataclass(frozen=True, kw_only=True)
class OutputSpec:
    """The form of one output at the task's own shape."""

    dtype: str
    """As torch prints it, without `torch.`."""
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Admission:
    """What was found out about a task: how it is judged."""

    draw_kinds: tuple[DrawKind, ...]
    """The draws of a judgement, at least five, the ordinary one first."""
    outputs: tuple[OutputSpec, ...]
    gold: GoldKind
    gold_chunks: int = 1
    """Into how many pieces the batch is cut when gold is made, so that memory suffices."""
    indices: tuple[IndexOutput, ...] = ()
    """Outputs that are judged by the values that they point at."""
    free_dimensions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Constants that set a shape and nothing else, with a smaller and a larger hidden value."""
    eager_errors: Mapping[str, float] = field(default_factory=dict)
    """Kind of draw to eager's largest error, in units of roundoff of the local scale."""
    influential_bytes: int = 0
    """A lower bound of the input bytes that must be read."""
    peak_bytes: int = 0
    """Most memory that eager held at once, inputs and parameters included."""
    notes: tuple[str, ...] = ()
    """What a reader should know: kinds of draws that were left out and why."""
    lacked_memory: bool = False
    """Whether something was left out for want of memory: another time, with fewer neighbours, there may be enough."""

    def as_plain(self) -> dict[str, Any]:
        """As dicts, lists and numbers, ready for JSON."""
        plain: dict[str, Any] = as_plain(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Admission:
        """The inverse of `as_plain`."""
        free = {name: (pair[0], pair[1]) for name, pair in plain["free_dimensions"].items()}
        outputs = (OutputSpec(dtype=o["dtype"], shape=tuple(o["shape"])) for o in plain["outputs"])
        return cls(
            draw_kinds=tuple(DrawKind(kind) for kind in plain["draw_kinds"]),
            outputs=tuple(outputs),
            gold=GoldKind(plain["gold"]),
            gold_chunks=plain["gold_chunks"],
            indices=tuple(IndexOutput(**rule) for rule in plain["indices"]),
            free_dimensions=free,
            eager_errors=dict(plain["eager_errors"]),
            influential_bytes=plain["influential_bytes"],
            peak_bytes=plain["peak_bytes"],
            notes=tuple(plain["notes"]),
            lacked_memory=plain["lacked_memory"],
        )


def admit(reference: ReferenceModule, *, seed: int, memory_bytes: int | None = None) -> Admission:
    """Find out how a task is judged, or that it cannot be.

    Args:
        reference: The task.
        seed: Of the draws and the parameters that are tried here.
        memory_bytes: What a run of the reference may hold at most; where it is None as much as is
            free beside a candidate's inputs and outputs, and no limit on the CPU.

    Raises:
        NotAdmitted: with the fact.
        BadTask: where the reference raises on its own inputs.
        MachineError: where the machine fails, or memory does not suffice that other processes hold.
    """
    model = reference.make_model(seed)
    model.load_state_dict(perturbed_state(model, seed))
    draw = draw_inputs(reference, DrawKind.ORDINARY, seed)
    indices, peak, chunks = _first_run(reference, model, draw, memory_bytes)
    ordinary = Trial.of(reference, model, draw, indices, gold_chunks=chunks)
    _check_eager(reference, model, ordinary)
    fragile = is_fragile(reference, model, draw.inputs)
    lacking: list[OutOfDeviceMemory] = []
    maker = TrialMaker(
        reference=reference,
        model=model,
        seed=seed,
        indices=indices,
        gold_chunks=chunks,
        free_dimensions=find_free_dimensions(
            reference, model, seed, host_first=fragile, when_lacking=lacking.append
        ),
    )
    trials = Trials(maker)
    trials.add(ordinary)
    is_finite, ordinary = ordinary.is_finite, ordinary.emptied()
    notes = add_fit_draws(
        trials, draw.inputs, is_finite=is_finite, host_first=fragile, when_lacking=lacking.append
    )
    admission = Admission(
        draw_kinds=(*trials.kinds, *(DrawKind.ORDINARY,) * (MIN_DRAWS - len(trials.kinds))),
        outputs=tuple(_spec(output) for output in ordinary.eager),
        gold=ordinary.gold,
        gold_chunks=chunks,
        indices=indices,
        free_dimensions=maker.free_dimensions,
        eager_errors=trials.eager_errors,
        influential_bytes=influential_bytes(model, draw.inputs),
        peak_bytes=peak,
        notes=tuple(_index_notes(ordinary, indices) + notes),
        lacked_memory=bool(lacking),
    )
    del draw  # `trials` makes again what it does not hold
    _check_work(maker, trials, host_first=fragile)
    return admission


def _first_run(
    reference: ReferenceModule, model: nn.Module, draw: Draw, memory_bytes: int | None
) -> tuple[tuple[IndexOutput, ...], int, int]:
    """Index outputs, peak memory, pieces of gold; the inputs must be left as they were."""
    before = map_tensors(draw.inputs, torch.clone)
    held = [*model.state_dict().values(), *tensors_in(draw.inputs)]
    device = reference.device
    outputs, peak = peak_bytes(lambda: reference.run(model, draw.inputs), held, device)
    for place, (old, new) in enumerate(
        zip(tensors_in(before), tensors_in(draw.inputs), strict=True)
    ):
        if not _are_same(old, new):
            raise NotAdmitted(
                f"{reference.name}: forward() changes its input {place}. Let it work on a copy."
            )
    if not sum(output.numel() for output in outputs):
        raise NotAdmitted(f"{reference.name}: forward() returns no elements: nothing to compare.")
    del before
    if memory_bytes is None:
        memory_bytes = run_bytes(device, draw.inputs, outputs)
    chunks = gold_chunks(reference, model, draw.inputs, peak=peak, memory_bytes=memory_bytes)
    return find_index_outputs(draw.inputs, outputs), peak, chunks


def _check_eager(reference: ReferenceModule, model: nn.Module, ordinary: Trial) -> None:
    """Eager must repeat itself and pass its own budget with margin, and be mostly finite."""
    for output in ordinary.eager:
        if output.is_floating_point() and int(output.isfinite().sum()) * 2 < output.numel():
            raise NotAdmitted(
                f"{reference.name}: most of an output is NaN or infinite: any kernel would do."
            )
    again = reference.run(model, ordinary.draw.inputs)
    if not _repeats(ordinary, again):
        raise NotAdmitted(
            f"{reference.name}: two runs on equal inputs differ by more than the budget. "
            "Take randomness out of forward()."
        )
    if ordinary.is_sound:
        return
    findings = ordinary.judge(ordinary.eager)
    if not findings.passed:
        raise NotAdmitted(
            f"{reference.name}: eager PyTorch's output {findings.output} is not right itself, by "
            f"{ordinary.gold.value} gold: {findings.reason} Keep clear of ties and cancellation."
        )
    errors = ", ".join(f"{e.eager:.3g}" for e in ordinary.expected)
    raise NotAdmitted(
        f"{reference.name}: eager PyTorch errs by {errors} units of roundoff against "
        f"{ordinary.gold.value} gold: more than half of what a submission may. "
        "Keep clear of cancellation, or use a wider dtype."
    )


def _repeats(ordinary: Trial, again: list[Tensor]) -> bool:
    """Bit for bit, or at least well within the budget: atomics on a GPU may change the last bits."""
    if all(_are_same(a, b) for a, b in zip(ordinary.eager, again, strict=True)):
        return True
    found = ordinary.judge(again)
    return found.passed and (found.error_ratio or 0.0) <= 0.5


def _index_notes(ordinary: Trial, indices: tuple[IndexOutput, ...]) -> list[str]:
    ruled = {rule.output for rule in indices}
    return [
        f"Output {number} holds integers and is compared exactly."
        for number, output in enumerate(ordinary.eager)
        if not output.is_floating_point() and number not in ruled
    ]


def _check_work(maker: TrialMaker, trials: Trials, *, host_first: bool) -> None:
    """Nothing may pass that took no work, and all that goes in must come out."""
    reference, model, seed = maker.reference, maker.model, maker.seed + 1

    def other() -> list[Any]:
        return draw_inputs(reference, DrawKind.ORDINARY, seed).inputs

    cheap = passing_degenerate(trials, lambda: reference.run(model, other()))
    if cheap:
        raise NotAdmitted(f"{reference.name}: {cheap} would pass for right on every draw.")
    for place in idle_inputs(reference, model, trials, other(), host_first=host_first):
        raise NotAdmitted(
            f"{reference.name}: input {place} does not matter: other content gives outputs within "
            "the budget. Leave it out."
        )
    for name in idle_parameters(reference, model, trials, seed):
        raise NotAdmitted(
            f"{reference.name}: parameter {name!r} does not matter: other values give outputs "
            "within the budget. Leave it out."
        )


def _are_same(ours: Tensor, theirs: Tensor) -> bool:
    """Bit for bit, but for NaN, which count as equal."""
    return torch.equal(ours, theirs) or torch.equal(ours.nan_to_num(), theirs.nan_to_num())


def _spec(output: Tensor) -> OutputSpec:
    return OutputSpec(dtype=str(output.dtype).removeprefix("torch."), shape=tuple(output.shape))
