from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from tests.fake_driver import driver

import cuda_gym
from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.envs.prompt import _render, system_prompt, workspace_page
from cuda_gym.envs.session import Session
from cuda_gym.envs.skills import skills
from cuda_gym.envs.tools import TOOL_NAMES, tool_schemas
from cuda_gym.tasks.registry import list_tasks

CPU = Device.parse("cpu")
MAX_CHARS = 5400
"""1,500 tokens at 3.6 characters each; benchmarks/observation_tokens.py counts with a tokenizer."""


@pytest.mark.parametrize("task", list_tasks("core"), ids=lambda task: task.id)
def test_every_core_task_is_explained_within_the_budget(task: Task) -> None:
    text = cuda_gym.system_prompt(task, "cpu", max_turns=7)
    assert len(text) <= MAX_CHARS
    assert text.startswith(f"Task {task.id}: {task.title}\n")
    assert text.endswith(f"{task.source.strip()}\n```")
    assert "on device cpu." in text
    assert re.findall(r"(\n\n.+)\n(?=- |1\. |```)", text)[:3] == [
        "\n\nRules",
        "\n\nOrder of work",
        "\n\nTools, arguments in [] optional",
    ]
    assert "\n\n\n" not in text.split("\nmodel.py\n")[0]
    assert "You have 7 turns" in text
    assert [name for name in TOOL_NAMES if f"\n- {name}(" not in text] == []
    served = [skill.name for skill in skills().skills.values() if "cpu" in skill.devices]
    assert f"`read_skill` has {', '.join(served)}." in text


def test_the_first_observation_is_the_system_prompt(task: Task, judge: Any) -> None:
    session = Session(task, judge, reward="milestone", max_turns=1)
    first = session.reset()
    session.close()
    assert first.text == system_prompt(task, CPU, reward="milestone", max_turns=1)
    assert "You have one turn." in first.text
    assert "pays each improvement" not in first.text


def test_a_prompt_for_a_gpu_has_its_skills_and_its_sizes(task: Task) -> None:
    text = system_prompt(task, "cuda:1")
    assert "on device cuda:1." in text
    assert "launchers, " in text
    assert "cpu" not in text
    assert "batch_size = 1024\n" in system_prompt("core/softmax", "cpu")
    assert "batch_size = 1024\n" not in system_prompt("core/softmax", "cuda")


def test_a_model_with_native_tools_is_not_told_of_them_in_words(task: Task) -> None:
    text = system_prompt(task, CPU, native_tools=True)
    assert "- edit_file(" not in text
    assert '{"name"' not in text
    assert "file=" not in text
    assert len(text) < len(system_prompt(task, CPU)) - 800


def test_all_tool_schemas_together_cost_less_than_900_tokens() -> None:
    assert len(json.dumps(tool_schemas())) <= 3500


def test_a_task_with_a_library_says_what_may_be_called(task: Task) -> None:
    assert "library" not in system_prompt(task, CPU)
    text = system_prompt(replace(task, library=("gemm", "bmm")), CPU)
    assert "cuda_extension.library.bmm, cuda_extension.library.gemm" in text


def test_a_value_that_a_template_lacks_is_an_error(task: Task) -> None:
    with pytest.raises(UndefinedError, match="undefined"):
        _render("system", task, CPU)


@pytest.mark.parametrize("knob", [{"reward": "sped"}, {"max_turns": 0}, {"device": "tpu"}])
def test_a_prompt_for_what_cannot_be_played_is_refused(task: Task, knob: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"sped|max_turns|tpu"):
        system_prompt(task, **knob)


def test_a_prompt_for_a_gpu_that_is_here_names_it(task: Task, tmp_path: Path) -> None:
    with driver(tmp_path):
        text = system_prompt(task, "cuda:0")
        page = workspace_page(task, Device.parse("cuda:0"))
    named = "on device cuda:0 (NVIDIA H200: sm_90, 132 multiprocessors)."
    assert named in text
    assert named in page
