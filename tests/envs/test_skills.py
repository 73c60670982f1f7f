"""What the skills teach is tried out, so that it stays true."""

from __future__ import annotations

import ast
import re

import pytest

from cuda_gym.envs.actions import parse_action
from cuda_gym.envs.tools import TOOL_NAMES, skills
from cuda_gym.judge.toolchains.launchers import ParameterKind, parse_launchers


def blocks(skill: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", skills()[skill], re.MULTILINE | re.DOTALL)


def test_the_complete_example_calls_its_launcher_with_what_it_takes() -> None:
    [kernel], [model] = blocks("launchers", "cuda"), blocks("launchers", "python")
    [launcher] = parse_launchers({"kernels/scale_bias.cu": kernel})
    [call] = [
        node
        for node in ast.walk(ast.parse(model))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "cuda_extension.scale_bias"
    ]
    given = [p for p in launcher.parameters if p.kind is not ParameterKind.STREAM]
    assert launcher.name == "scale_bias"
    assert len(call.args) == len(given) == len(launcher.parameters) - 1


def test_the_example_of_an_action_is_one() -> None:
    [example] = re.findall(
        r"^ {3}````\n(.*?)^ {3}````", skills()["episode"], re.MULTILINE | re.DOTALL
    )
    parsed = parse_action(re.sub(r"^ {3}", "", example, flags=re.MULTILINE))
    assert [write.path for write in parsed.writes] == ["kernels/add_one.cu", "model_new.py"]
    assert parsed.call is not None
    assert parsed.call.name == "verify"


@pytest.mark.parametrize("name", skills())
def test_front_matter_names_the_skill_and_lines_stay_readable(name: str) -> None:
    text = skills()[name]
    assert text.startswith(f"---\nname: {name}\ndescription: ")
    assert max(map(len, text.split("\n"))) <= 120
    assert len(text) < 6000


def test_only_tools_that_exist_are_taught() -> None:
    taught = set(re.findall(r'"name": "(\w+)"', "".join(skills().values())))
    assert taught <= set(TOOL_NAMES)
