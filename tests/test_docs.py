"""The Python of the first steps runs as it stands; that the site builds is `make docs`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.test_episode_record import episode

from cuda_gym.agents.registry import load_agent
from cuda_gym.core.episode import Action
from cuda_gym.envs.actions import ToolCall, parse_action
from cuda_gym.envs.skills import skills

DOCS = Path(__file__).parents[1] / "docs"


def python_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)


def test_the_agent_of_the_first_steps_can_be_played_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "my_agent.py"
    path.write_text(python_of("first_steps.md")[0])
    agent = load_agent(f"{path}:MyAgent", task_id="core/softmax")
    first = episode().first
    agent.reset(first)
    assert parse_action(agent.act(first).text).call == ToolCall("submit", {})


def test_every_variable_that_a_user_may_set_is_explained() -> None:
    source = DOCS.parent / "src"
    texts = [path.read_text() for path in source.rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\bCUDA_GYM_[A-Z_]+\b", text)}
    page = (DOCS / "command_line.md").read_text()
    told = set(re.findall(r"^\| `(CUDA_GYM_\w+)` \|", page, re.MULTILINE))
    assert told == read - {"CUDA_GYM_OWN_FOLDER"}  # said between processes of ours


def test_the_python_of_the_first_steps_runs() -> None:
    names: dict[str, Any] = {}
    blocks = python_of("first_steps.md")
    for block in blocks:
        if "make_vec" not in block:  # it would warm eight references; test_vector_env has its like
            exec(block, names)
    assert len(blocks) == 3
    assert names["prompt"].startswith("Task core/softmax: ")
    heard: list[list[dict[str, str]]] = []

    def answer(messages: list[dict[str, str]]) -> str:
        heard.append(list(messages))
        return "submit"

    agent = names["MyAgent"](answer)
    played = episode()
    agent.reset(played.first)
    assert agent.act(played.first) == Action("submit")
    agent.act(played.turns[0].observation)
    assert [message["role"] for message in heard[-1]] == ["system", "assistant", "user"]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_no_page_takes_from_the_code_what_is_not_there(page: Path) -> None:
    known = set(re.findall(r'^    "(\w+)": _\w+,$', (DOCS / "hooks.py").read_text(), re.M))
    assert known
    wanted = re.findall(r"^<!-- insert: (\w+)", page.read_text(), re.M)
    assert set(wanted) <= known


def test_the_episodes_read_skills_that_there_are() -> None:
    pages = [page.read_text() for page in (DOCS / "episodes").glob("*.md")]
    read = {name for page in pages for name in re.findall(r"read_skill\(name='(\w+)'\)", page)}
    assert {"launchers", "reductions"} <= read <= set(skills().skills)
