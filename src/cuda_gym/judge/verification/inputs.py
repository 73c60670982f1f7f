"""Hidden inputs: what a submission is tried on, and the parameters it is tried with.

Covered: one ordinary draw and its harder relatives, each aimed at one way of being wrong that
ordinary numbers hide. Not covered: which of them a task can bear; admission finds that out.
Integer, boolean and categorical tensors are never transformed, nor is anything that is no tensor;
zeros of triangular or sparse tensors stay, and so does symmetry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, unique
from typing import Any, Final

import torch
from torch import Tensor, nn

from cuda_gym.judge.verification.edges import extremes_at_edges
from cuda_gym.judge.verification.nests import map_tensors, tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.judge.verification.structure import with_structure_of

__all__ = [
    "Draw",
    "DrawKind",
    "FreeDimensions",
    "draw_inputs",
    "perturbed_state",
]

FreeDimensions = Mapping[str, tuple[int, int]]
"""Module-level constants that set a shape and nothing else: name to (a smaller, a larger value)."""

LARGE_OFFSET: Final = 100.0
"""exp() of it overflows float32 (88.7 is the last that fits), and it is many spreads away."""
TINY_SCALE: Final = 2.0**-6
"""Variances come near the usual epsilons (1e-5), while exp(x) - 1, which honest kernels write for
expm1, is still within the budget. A power of two, so that nothing is rounded."""
SIGNED_SPREAD: Final = 2.0
"""Both tails of the usual activations are reached, where approximations differ most."""
SPIKE: Final = 1000.0
"""Of the spread. A sum of 4096 is then dominated by one spike: whoever skips it is far off."""
HALF_SPIKE: Final = 50.0
"""The same for float16, whose largest number is 65504."""
_BORDERS: Final = (32, 64, 128, 256, 1024)


@unique
class DrawKind(Enum):
    """What is special about one draw of inputs."""

    ORDINARY = "ordinary"
    """What the task's own `get_inputs()` gives, under a secret seed."""
    SIGNED = "signed"
    """Floating inputs shifted to mean zero and widened: signs, cancellation and tails matter."""
    LARGE_OFFSET = "large offset"
    """Floating inputs shifted far from zero: overflow, and variances by subtraction, show."""
    TINY_SCALE = "tiny scale"
    """Floating inputs scaled down: epsilons matter, and absolute tolerances would forgive all."""
    SPIKY = "spiky"
    """A few elements, the first, the last and tile borders among them, are very large."""
    SMALLER_SHAPE = "smaller shape"
    """The free dimensions take a smaller, odd value."""
    LARGER_SHAPE = "larger shape"
    """The free dimensions take a larger, odd value, and the extremes of many lines lie at an edge.

    In this draw only, so that a task which cannot bear it is still tried at another shape.
    """
    SMALLEST_SHAPE = "smallest shape"
    """The free dimensions are 3 or less: what is left over when work is divided is all there is.

    A fault in the rest of a long row is lost among all that is right there.
    """


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One draw of hidden inputs."""

    kind: DrawKind
    inputs: list[Any]
    """Positional arguments of `Model.forward`."""
    description: str
    """In words: shapes and distribution, never values."""
    spikes: tuple[Tensor | None, ...] = ()
    """For each tensor of the inputs the flat positions of its spikes; empty unless spiky."""
    overrides: Mapping[str, int] = field(default_factory=dict)
    """The constants that were replaced for another shape."""


def draw_inputs(
    reference: ReferenceModule,
    kind: DrawKind,
    seed: int,
    free_dimensions: FreeDimensions | None = None,
) -> Draw:
    """Draw inputs of one kind; equal seeds give equal draws."""
    overrides = _overrides(kind, free_dimensions or {})
    inputs = reference.make_inputs(seed, overrides)
    spikes: list[Tensor | None] = []
    if kind is DrawKind.SPIKY:
        generator = torch.Generator().manual_seed(seed)

        def add_spikes(tensor: Tensor) -> Tensor:
            positions = _spike_positions(tensor, generator) if _may_change(tensor) else None
            if positions is None:
                spikes.append(None)
                return tensor
            spiked = with_structure_of(tensor, _spiked(tensor, positions, generator))
            spikes.append((spiked != tensor).flatten().nonzero().flatten())
            return spiked

        inputs = map_tensors(inputs, add_spikes)
    elif kind is DrawKind.LARGER_SHAPE and overrides:
        generator = torch.Generator().manual_seed(seed)
        inputs = map_tensors(
            inputs, lambda x: extremes_at_edges(x, generator) if _may_change(x) else x
        )
    elif kind in _TRANSFORMS:
        transform = _TRANSFORMS[kind]
        inputs = map_tensors(
            inputs, lambda x: with_structure_of(x, transform(x)) if _may_change(x) else x
        )
    return Draw(
        kind=kind,
        inputs=inputs,
        description=_describe(kind, inputs),
        spikes=tuple(spikes),
        overrides=overrides,
    )


def perturbed_state(model: nn.Module, seed: int) -> dict[str, Tensor]:
    """A state_dict whose floating parameters and running statistics are moved at their own scale.

    Constructors leave ones and zeros behind; a kernel that drops such a factor would pass.
    Signs of one-signed parameters stay, and so running variances stay positive. Other buffers,
    and ties between names, stay as they are.
    """
    generators: dict[torch.device, torch.Generator] = {}
    movable = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    movable |= {name for name, _ in model.named_buffers() if _is_running_statistic(name)}
    state = model.state_dict()
    moved: dict[tuple[Any, ...], Tensor] = {}
    for name, tensor in state.items():
        if name not in movable or not tensor.is_floating_point() or not tensor.numel():
            continue
        place = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
        if place not in moved:
            if (device := tensor.device) not in generators:
                generators[device] = torch.Generator(device).manual_seed(seed)
            moved[place] = _moved(tensor.detach(), generators[device])
        state[name] = moved[place]
    return dict(state)


def _overrides(kind: DrawKind, free_dimensions: FreeDimensions) -> dict[str, int]:
    if kind is DrawKind.SMALLER_SHAPE:
        return {name: smaller for name, (smaller, _) in free_dimensions.items()}
    if kind is DrawKind.LARGER_SHAPE:
        return {name: larger for name, (_, larger) in free_dimensions.items()}
    if kind is DrawKind.SMALLEST_SHAPE:
        *others, last = free_dimensions or [""]
        few = {**dict.fromkeys(others, 2), last: 3}
        return {name: min(few[name], smaller) for name, (smaller, _) in free_dimensions.items()}
    return {}


def _may_change(tensor: Tensor) -> bool:
    """Floating, and no category in disguise: labels of -1.0 and 1.0 stay what they are."""
    if not tensor.is_floating_point() or not tensor.numel():
        return False
    sample = tensor.flatten()[:256].cpu()
    return sample.numel() < 16 or torch.unique(sample).numel() > 4


def _spread(tensor: Tensor) -> float:
    """The standard deviation; the size of the value where there is but one."""
    if tensor.numel() == 1:
        return abs(float(tensor)) or 1.0
    return float(tensor.float().std(correction=0)) or 1.0


def _signed(tensor: Tensor) -> Tensor:
    spread = _spread(tensor)
    mean = float(tensor.mean(dtype=torch.float32)) if tensor.numel() > 1 else 0.0
    return (tensor - mean).mul_(max(1.0, SIGNED_SPREAD / spread))


def _offset(tensor: Tensor) -> Tensor:
    return tensor + LARGE_OFFSET * max(1.0, _spread(tensor))


def _tiny(tensor: Tensor) -> Tensor:
    return tensor * TINY_SCALE


_TRANSFORMS: Final[Mapping[DrawKind, Callable[[Tensor], Tensor]]] = {
    DrawKind.SIGNED: _signed,
    DrawKind.LARGE_OFFSET: _offset,
    DrawKind.TINY_SCALE: _tiny,
}


def _spike_positions(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """The first, the last, both sides of tile borders of the last two dimensions, and a few more.

    At most one element in sixteen, so that most of what is small can still be seen.
    """
    count = tensor.numel()
    width = tensor.shape[-1] if tensor.ndim else 1
    rows = count // width
    columns = {0, width - 1, *(b + s for b in _BORDERS for s in (-1, 0) if b + s < width)}
    lines = {0, rows - 1, *(b + s for b in _BORDERS for s in (-1, 0) if b + s < rows)}
    corners = {(rows - 1) * width + column for column in columns} | {line * width for line in lines}
    corners |= {line * width + width - 1 for line in lines}
    extra = torch.randint(0, count, (16,), generator=generator).tolist()
    positions = sorted(corners | set(extra))
    most = max(1, count // 16)
    if len(positions) > most:
        kept = torch.randperm(len(positions), generator=generator)[: max(0, most - 1)].tolist()
        positions = sorted({count - 1, *(positions[i] for i in kept)})
    return torch.tensor(positions, dtype=torch.int64)


def _spiked(tensor: Tensor, positions: Tensor, generator: torch.Generator) -> Tensor:
    """All spikes have one sign: two that cancel would leave a sum of nothing but rounding.

    It is negative only where all elements are, so that what must be positive stays positive.
    """
    factor = HALF_SPIKE if tensor.dtype == torch.float16 else SPIKE
    size = (0.5 + torch.rand(len(positions), generator=generator)) * factor * _spread(tensor)
    result = tensor.contiguous().clone()
    result.view(-1)[positions.to(tensor.device)] = (-size if tensor.max() <= 0 else size).to(tensor)
    return result


_WORDS: Final[Mapping[DrawKind, str]] = {
    DrawKind.ORDINARY: "as get_inputs() gives them",
    DrawKind.SIGNED: f"floating inputs at mean 0, spread at least {SIGNED_SPREAD:g}",
    DrawKind.LARGE_OFFSET: f"floating inputs shifted by {LARGE_OFFSET:g} spreads (at least 1 each)",
    DrawKind.TINY_SCALE: "floating inputs times 2**-6",
    DrawKind.SPIKY: f"some floating elements as large as {SPIKE:g} spreads ({HALF_SPIKE:g} in "
    "float16), the first, the last and tile borders among them",
    DrawKind.SMALLER_SHAPE: "smaller free dimensions",
    DrawKind.LARGER_SHAPE: "larger free dimensions, the extremes of many lines first or last",
    DrawKind.SMALLEST_SHAPE: "free dimensions of 3 or less",
}


def _describe(kind: DrawKind, inputs: list[Any]) -> str:
    shapes = ", ".join(
        f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
        for tensor in tensors_in(inputs)
    )
    return f"{shapes or 'no tensors'}: {_WORDS[kind]}"


def _is_running_statistic(name: str) -> bool:
    return name.rpartition(".")[2] in ("running_mean", "running_var")


def _moved(tensor: Tensor, generator: torch.Generator) -> Tensor:
    """Multiplied where all signs agree, otherwise added to at half the spread."""
    noise = torch.rand(tensor.shape, generator=generator, device=tensor.device)
    noise = noise.mul_(2.0).sub_(1.0).to(tensor)
    if bool((tensor > 0).all()) or bool((tensor < 0).all()):
        return tensor * (1.0 + 0.25 * noise)
    spread = float(tensor.std(correction=0)) if tensor.numel() > 1 else 0.0
    return tensor + noise * (0.5 * spread or 0.1)
