"""Solutions compiled for the host and run in this process, at shapes that fit no vector or block."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
import torch

from cuda_gym.agents.scripted import load_solution, solved_tasks
from cuda_gym.core import Submission
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_extension import make_extension
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime
from cuda_gym.judge.toolchains.launchers import parse_launchers
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.tasks.registry import load_task

SIZES = ((1, 1, 1, 1), (7, 13, 5, 9), (33, 100, 17, 1), (65, 67, 64, 35), (3, 515, 2, 2))
"""Values for the constants of a task, in their order."""


def _reference(task_id: str, sizes: tuple[int, ...]) -> ReferenceModule:
    """The reference of a task with other values for its constants."""
    values = iter(sizes)
    source = load_task(task_id).source
    source = re.sub(r"(?m)^(\w+) = \d+$", lambda found: f"{found[1]} = {next(values)}", source)
    return ReferenceModule(source, name=task_id)


def _with_one(inputs: list[Any], value: float) -> list[Any]:
    """The inputs, with one element of the first replaced."""
    first = inputs[0].clone()
    first.view(-1)[first.numel() // 2] = value
    return [first, *inputs[1:]]


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
        allowed_library=(),
        on_library_call=lambda name: None,
    )
    monkeypatch.setitem(sys.modules, "cuda_extension", extension)
    namespace: dict[str, Any] = {"__name__": "model_new"}
    exec(compile(files["model_new.py"], "model_new.py", "exec"), namespace)
    for sizes in SIZES:
        reference = _reference(task_id, sizes)
        model = reference.make_model(seed=0)
        ours = namespace["ModelNew"](*reference.init_inputs()).requires_grad_(False)
        ours.load_state_dict(model.state_dict())
        inputs = reference.make_inputs(seed=1)
        for value in (0.5, float("nan"), float("inf"), float("-inf")):
            given = _with_one(inputs, value)
            torch.testing.assert_close(
                ours(*given), model(*given), rtol=1e-5, atol=3e-6, equal_nan=True
            )
