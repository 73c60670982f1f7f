from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from cuda_gym.agents.scripted import ScriptedAgent, load_solution, solved_tasks
from cuda_gym.core.episode import Observation, Stage
from cuda_gym.envs.actions import parse_action
from cuda_gym.envs.skills import skills as read_skills
from cuda_gym.errors import UnknownAgent
from cuda_gym.judge.toolchains.cuda_library import library_calls
from cuda_gym.judge.toolchains.cuda_parameters import ParameterKind
from cuda_gym.judge.toolchains.launchers import Launcher, parse_launchers
from cuda_gym.judge.verification.nests import flatten_outputs
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.tasks.registry import list_tasks, load_task

START = Observation(text="", stage=Stage.START)
SOLVED = solved_tasks()


def _turns(task_id: str) -> list[str]:
    """What the agent says up to the first `submit`."""
    agent = ScriptedAgent(task_id)
    agent.reset(START)
    texts: list[str] = []
    while not texts or '"submit"' not in texts[-1]:
        texts.append(agent.act(START).text)
        assert len(texts) <= 20
    return texts


def _replayed(task_id: str) -> dict[str, str]:
    """The files as they are at the end of the script."""
    files: dict[str, str] = {}
    for text in _turns(task_id):
        action = parse_action(text)
        files |= {write.path: write.content for write in action.writes}
        if action.call is not None and action.call.name == "edit_file":
            path, old = action.call.arguments["path"], action.call.arguments["old"]
            assert files[path].count(old) == 1
            files[path] = files[path].replace(old, action.call.arguments["new"])
    return files


class _Recorder(ModuleType):
    """Stands where the judge puts `cuda_extension`: checks each call against its launcher."""

    def __init__(self, launchers: tuple[Launcher, ...], library: tuple[str, ...]) -> None:
        super().__init__("cuda_extension")
        self.called: list[str] = []
        self.library = SimpleNamespace(
            **library_calls(library, lambda name: None, torch.device("cpu"))
        )
        for launcher in launchers:
            setattr(self, launcher.name, self._function(launcher))

    def _function(self, launcher: Launcher) -> Any:
        expected = [p for p in launcher.parameters if p.kind is not ParameterKind.STREAM]

        def call(*arguments: object) -> None:
            self.called.append(launcher.name)
            for argument, parameter in zip(arguments, expected, strict=True):
                is_pointer = parameter.kind is ParameterKind.POINTER
                assert isinstance(argument, torch.Tensor) == is_pointer, parameter.name

        return call


def _model_new(task_id: str, monkeypatch: pytest.MonkeyPatch) -> tuple[type[nn.Module], _Recorder]:
    files = load_solution(task_id)
    recorder = _Recorder(parse_launchers(files), load_task(task_id).library)
    monkeypatch.setitem(sys.modules, "cuda_extension", recorder)
    namespace: dict[str, Any] = {"__name__": "model_new"}
    exec(compile(files["model_new.py"], "model_new.py", "exec"), namespace)
    return namespace["ModelNew"], recorder


def test_every_core_task_has_a_solution() -> None:
    assert set(SOLVED) == {task.id for task in list_tasks("core")}


@pytest.mark.parametrize("task_id", SOLVED)
def test_every_script_goes_from_a_skill_to_a_submission(task_id: str) -> None:
    calls = [parse_action(text).call for text in _turns(task_id)]
    names = [call.name for call in calls if call is not None]
    assert len(names) == len(calls)
    assert names[0] == "read_skill"
    assert names[-2:] == ["profile", "submit"]
    assert {"compile", "verify"} < set(names)
    skills = {call.arguments["name"] for call in calls if call and call.name == "read_skill"}
    assert skills <= set(read_skills().skills)
    assert [call for text in _turns(task_id) for call in parse_action(text).notes] == []


@pytest.mark.parametrize("task_id", SOLVED)
def test_every_script_ends_with_the_files_of_its_solution(task_id: str) -> None:
    assert _replayed(task_id) == load_solution(task_id)


@pytest.mark.parametrize("task_id", SOLVED)
def test_every_solution_is_put_together_like_its_reference(
    task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = ReferenceModule.of(load_task(task_id))
    model = reference.make_model(seed=0)
    inputs = reference.make_inputs(seed=0)
    model_new, recorder = _model_new(task_id, monkeypatch)
    ours = model_new(*reference.init_inputs())
    ours.load_state_dict(model.state_dict())
    outputs, expected = (flatten_outputs(module(*inputs))[0] for module in (ours, model))
    assert [(x.shape, x.dtype) for x in outputs] == [(x.shape, x.dtype) for x in expected]
    assert all(output.is_contiguous() for output in outputs)
    assert recorder.called == [
        launcher.name for launcher in parse_launchers(load_solution(task_id))
    ]


def test_the_demonstration_mistypes_and_repairs() -> None:
    calls = [parse_action(text).call for text in _turns("core/bias_gelu")]
    assert [call.name for call in calls if call is not None] == [
        "read_skill",
        "compile",
        "edit_file",
        "compile",
        "verify",
        "profile",
        "submit",
    ]


def test_a_script_that_has_run_out_submits() -> None:
    agent = ScriptedAgent("core/softmax")
    texts = [agent.act(START).text for _ in range(40)]
    assert all('"submit"' in text for text in texts[10:])


@pytest.mark.parametrize("task_id", ["core/soft_max", "kernelbench/level1/1", "../softmax", ""])
def test_a_task_without_a_solution_is_answered_with_those_that_have_one(task_id: str) -> None:
    with pytest.raises(UnknownAgent, match=r"no solution for .* core/bias_gelu, .*core/softmax"):
        ScriptedAgent(task_id)
