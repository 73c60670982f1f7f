"""Which constants of a task set a shape and nothing else: found by trying.

A submission is also tried at other values of these, so that it cannot be written for one size.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from cuda_gym.errors import OutOfDeviceMemory, TaskError
from cuda_gym.judge.verification.nests import tensors_in
from cuda_gym.judge.verification.reference_module import ReferenceModule

__all__ = ["find_free_dimensions", "other_sizes"]


def other_sizes(value: int) -> tuple[int, int]:
    """A smaller and a larger value, both odd, and so no multiple of any tile.

    >>> other_sizes(4096), other_sizes(2), other_sizes(7)
    ((2049, 4609), (1, 3), (3, 9))
    """
    smaller = (value // 2) | 1
    larger = (value + value // 8) | 1
    return (smaller if smaller < value else 1), (larger if larger > value else value + 2)


def find_free_dimensions(
    reference: ReferenceModule,
    model: nn.Module,
    seed: int,
    *,
    host_first: bool = False,
    when_lacking: Callable[[OutOfDeviceMemory], None] = lambda _: None,
) -> dict[str, tuple[int, int]]:
    """Module-level integer constants whose change changes the inputs' shapes and no parameter.

    Each is kept where the reference runs with it and all that were kept before, at the smaller
    and at the larger values.

    Args:
        reference: The task.
        model: Of the task's own shapes.
        seed: Of the inputs.
        host_first: Whether a run with other shapes is tried on the CPU first.
        when_lacking: Told of each constant that memory does not suffice for.

    Raises:
        MachineError: the machine fails in another way.
    """
    shapes = _shapes(reference, seed, {})
    form = _parameter_form(model)
    kept: dict[str, tuple[int, int]] = {}
    for name, value in reference.integer_constants().items():
        if value < 1:
            continue
        trial = {**kept, name: other_sizes(value)}
        only = {name: other_sizes(value)[1]}
        try:
            if _shapes(reference, seed, only) == shapes:
                continue
            if repr(reference.init_inputs(only)) != repr(reference.init_inputs()):
                continue
            if _parameter_form(reference.make_model(seed, only)) != form:
                continue
            for side in (0, 1):
                sizes = {constant: pair[side] for constant, pair in trial.items()}
                inputs = reference.make_inputs(seed, sizes)
                if host_first:
                    reference.try_on_host(model, inputs)
                reference.run(model, inputs)
        except TaskError:
            continue
        except OutOfDeviceMemory as error:
            when_lacking(error)
            continue
        kept = trial
    return kept


def _shapes(reference: ReferenceModule, seed: int, overrides: dict[str, int]) -> list[object]:
    return [tensor.shape for tensor in tensors_in(reference.make_inputs(seed, overrides))]


def _parameter_form(model: nn.Module) -> list[tuple[str, object]]:
    return [(name, tensor.shape) for name, tensor in model.state_dict().items()]
