from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.actions import ToolCall
from cuda_gym.envs.search import MAX_HITS
from cuda_gym.envs.tools import TOOL_NAMES, Tools, tool_schemas
from cuda_gym.envs.workspace import Workspace
from cuda_gym.errors import AgentError, BadAction, WorkerLost


@pytest.fixture
def tools(task: Task, judge: Any) -> Iterator[Tools]:
    workspace = Workspace(
        fixed={"SKILL.md": "skill", "model.py": task.source},
        start=Submission.of({"model_new.py": "# judge: correct 2.0\n"}),
    )
    yield Tools(workspace=workspace, task=task, judge=judge)
    workspace.close()


def ask(tools: Tools, tool: str, **arguments: Any) -> str:
    return tools.call(ToolCall(tool, arguments)).text


def test_every_tool_has_a_schema_that_says_what_it_and_its_arguments_are() -> None:
    schemas = tool_schemas()
    json.dumps(schemas)
    assert [schema["function"]["name"] for schema in schemas] == list(TOOL_NAMES)
    for schema in schemas:
        function = schema["function"]
        assert function["description"].endswith(".")
        assert "Args" not in function["description"]
        assert function["parameters"]["additionalProperties"] is False
        for argument in function["parameters"]["properties"].values():
            assert len(argument["description"]) > 10
            assert "title" not in argument


def test_choices_and_defaults_are_in_the_schema() -> None:
    schemas = {s["function"]["name"]: s["function"]["parameters"] for s in tool_schemas()}
    assert schemas["verify"]["properties"]["check"]["enum"] == ["values", "memory"]
    assert schemas["verify"]["properties"]["check"]["default"] == "values"
    assert schemas["edit_file"]["required"] == ["path", "old", "new"]
    assert schemas["read_file"]["properties"]["last_line"] == {
        "type": "integer",
        "description": "The last to show.",
    }


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("complie", {}, "Did you mean 'compile'?"),
        ("bash", {"command": "ls"}, "The tools are read_skill"),
        ("_workspace", {}, "There is no tool"),
        ("call", {}, "There is no tool"),
        ("read_file", {"pth": "model.py"}, "Did you mean 'path'?"),
        ("read_file", {}, "needs the argument 'path'"),
        ("read_file", {"path": ["model.py"]}, "does not fit"),
        ("read_file", {"path": "model.py", "first_line": "three"}, "first_line"),
        ("verify", {"check": "speed"}, "'values' or 'memory'"),
        ("compile", {"fast": True}, "no argument 'fast'"),
        ("read_skill", {"name": "launcher"}, "The nearest are launchers, "),
        ("search", {"pattern": ""}, "1 to 500 characters"),
        ("search", {"pattern": "(" * 600}, "1 to 500 characters"),
        ("search", {"pattern": "foo("}, "backslash"),
        ("search", {"pattern": "a{99999999999}"}, "no regular expression"),
    ],
)
def test_what_does_not_fit_is_told_with_a_way_out(
    tools: Tools, name: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(AgentError) as caught:
        tools.call(ToolCall(name, arguments))
    assert said in str(caught.value)


def test_numbers_may_come_as_strings(tools: Tools) -> None:
    text = ask(tools, "read_file", path="model.py", first_line="1", last_line="2")
    assert text == "model.py, lines 1 to 2 of 19:\nimport torch\nimport torch.nn as nn"


def test_lines_beyond_the_file_are_cut_or_told(tools: Tools) -> None:
    assert ask(tools, "read_file", path="model.py", first_line=19, last_line=999).endswith(
        "return [8]"
    )
    with pytest.raises(AgentError, match="19 lines"):
        ask(tools, "read_file", path="model.py", first_line=20)


def test_a_pattern_that_explodes_is_stopped(tools: Tools) -> None:
    tools.call(ToolCall("write_file", {"path": "kernels/a.cu", "content": "a" * 60}))
    with pytest.raises(BadAction, match="stopped after"):
        ask(tools, "search", pattern="(a+)+$b|(a|a)*c")


def test_search_finds_plain_text_and_patterns_and_bounds_its_answer(tools: Tools) -> None:
    assert ask(tools, "search", pattern="class Model") == "model.py:5: class Model(nn.Module):"
    assert "model.py:5:" in ask(tools, "search", pattern=r"Mod\w+\(nn")
    assert ask(tools, "search", pattern="nowhere") == "Nothing matches 'nowhere'."
    tools.call(ToolCall("write_file", {"path": "kernels/a.cu", "content": "hit\n" * 200}))
    assert len(ask(tools, "search", pattern="hit").split("\n")) == MAX_HITS + 1


def test_every_listed_skill_has_a_summary_and_can_be_read(tools: Tools) -> None:
    for line in ask(tools, "read_skill").split("\n")[1:]:
        name, summary = line.split(": ", 1)
        assert len(summary) > 20
        assert ask(tools, "read_skill", name=name).startswith("# ")


def test_a_machine_error_is_tried_once_more(tools: Tools, judge: Any) -> None:
    judge.failures = 1
    assert tools.call(ToolCall("compile")).findings is not None
    assert len(judge.compiled) == 2
    judge.failures = 2
    with pytest.raises(WorkerLost):
        tools.call(ToolCall("verify"))
