"""Solutions compiled for the host and run in this process, at shapes that fit no vector or block."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
import torch

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.verification.nests import flatten_outputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.tasks.registry import load_task

SIZES = ((1, 1, 1, 1), (7, 13, 5, 9), (33, 100, 17, 1), (65, 67, 64, 35), (3, 515, 2, 2))
"""Values for the constants of a task, in their order; what a task has no constant for is left."""

OTHER_SIZES: dict[str, tuple[tuple[int, ...], ...]] = {
    "core/attention": ((2, 1, 33, 35), (1, 2, 32, 32), (1, 1, 67, 64), (2, 3, 130, 17)),
    "core/conv2d_relu": (
        (1, 1, 1, 1, 1),
        (2, 3, 5, 9, 7),
        (1, 8, 8, 32, 32),
        (2, 5, 17, 3, 33),
        (1, 2, 9, 4, 100),
    ),
    "core/depthwise_conv3x3": (
        (1, 1, 1, 1),
        (7, 3, 5, 2),
        (2, 3, 7, 33),
        (1, 5, 2, 34),
        (3, 2, 3, 99),
    ),
    "core/group_norm": (
        (1, 1, 1, 1, 2),
        (7, 3, 9, 5, 1),
        (3, 2, 12, 17, 13),
        (2, 5, 5, 33, 31),
    ),
    "core/pixel_shuffle": (
        (1, 1, 1, 1, 1),
        (3, 2, 5, 9, 2),
        (2, 3, 7, 33, 3),
        (1, 2, 9, 150, 2),
        (1, 1, 3, 131, 4),
    ),
    "core/rotary_embedding": (
        (1, 1, 1, 1, 1),
        (2, 13, 5, 9, 31),
        (3, 7, 17, 33, 7),
        (2, 5, 3, 64, 64),
    ),
}
"""The same for tasks whose constants are more, or depend on each other."""

TOLERANCES = {
    torch.float32: (1e-5, 3e-6),
    torch.float16: (2e-3, 2e-3),
    torch.bfloat16: (1e-2, 1e-2),
}
"""Of what is expected, and of the largest that is expected (at least 1), for each dtype."""


def _sizes(task_id: str) -> tuple[tuple[int, ...], ...]:
    return OTHER_SIZES.get(task_id, SIZES)


def _reference(task_id: str, sizes: tuple[int, ...]) -> ReferenceModule:
    """The reference of a task with other values for its constants."""
    values = iter(sizes)
    source = load_task(task_id).source
    source = re.sub(r"(?m)^(\w+) = \d+$", lambda found: f"{found[1]} = {next(values)}", source)
    return ReferenceModule(source, name=task_id)


def _with_one(inputs: list[Any], value: float) -> list[Any]:
    """The inputs, with one element of the first floating one replaced."""
    place = next((i for i, x in enumerate(inputs) if x.is_floating_point()), None)
    if place is None:
        return inputs
    changed = inputs[place].clone()
    changed.view(-1)[changed.numel() // 2] = value
    return [*inputs[:place], changed, *inputs[place + 1 :]]


def _outputs(model: torch.nn.Module, inputs: list[Any]) -> list[torch.Tensor]:
    return flatten_outputs(model(*inputs))[0]


def _assert_close(ours: torch.Tensor, expected: torch.Tensor) -> None:
    """Floating outputs within the tolerance of their dtype, all others exactly."""
    relative, absolute = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    finite = expected[expected.isfinite()].abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    torch.testing.assert_close(
        ours, expected, rtol=relative, atol=absolute * max(1.0, largest), equal_nan=True
    )


@pytest.mark.parametrize("task_id", solved_tasks())
def test_every_solution_is_right_at_any_size_and_with_what_is_no_number(
    task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = load_solution(task_id)
    runtime = Runtime(CpuToolchain().build(Submission.of(files)).library)
    extension = make_extension(
        parse_launchers(files),
        runtime.library,
        device=torch.device("cpu"),
        stream=lambda: 0,
        take_error=runtime.take_error,
        allowed_library=load_task(task_id).library,
        on_library_call=lambda name: None,
    )
    monkeypatch.setitem(sys.modules, "cuda_extension", extension)
    namespace: dict[str, Any] = {"__name__": "model_new"}
    exec(compile(files["model_new.py"], "model_new.py", "exec"), namespace)
    for sizes in _sizes(task_id):
        reference = _reference(task_id, sizes)
        model = reference.make_model(seed=0)
        ours = namespace["ModelNew"](*reference.init_inputs()).requires_grad_(False)
        ours.load_state_dict(model.state_dict())
        inputs = reference.make_inputs(seed=1)
        for value in (0.5, float("nan"), float("inf"), float("-inf")):
            given = _with_one(inputs, value)
            pairs = zip(_outputs(ours, given), _outputs(model, given), strict=True)
            for output, expected in pairs:
                _assert_close(output, expected)
