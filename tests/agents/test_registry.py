from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuda_gym.agents.agent import Agent
from cuda_gym.agents.registry import AGENTS, load_agent
from cuda_gym.core.episode import Observation, Stage
from cuda_gym.errors import UnknownAgent

START = Observation(text="", stage=Stage.START)
MINE = """\
from dataclasses import dataclass

from cuda_gym.core.episode import Action


@dataclass
class Mine:
    task_id: str
    volume: int = 7
    name: str = "mine"

    def reset(self, observation):
        pass

    def act(self, observation):
        return Action(f"{self.task_id} {self.volume}")


class Seeded(Mine):
    def __init__(self, seed):
        super().__init__(f"seed {seed}")


class Nameless:
    def act(self, observation):
        return Action("")


class Demanding(Mine):
    def __init__(self, seed, ask, *, model, size=3, **more):
        super().__init__("")


number = 3
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_goes_by_its_name(name: str) -> None:
    agent = load_agent(name, task_id="core/softmax", seed=1)
    assert isinstance(agent, Agent)
    assert agent.name == name


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_begins_again_after_a_reset(name: str) -> None:
    agent = load_agent(name, task_id="core/softmax", seed=1)
    agent.reset(START)
    once = [agent.act(START) for _ in range(30)]
    agent.reset(START)
    assert [agent.act(START) for _ in range(30)] == once


def test_a_class_in_a_file_is_given_what_it_asks_for(mine: Path) -> None:
    agent = load_agent(f"{mine}:Mine", task_id="core/softmax", seed=1)
    assert agent.act(START).text == "core/softmax 7"
    agent = load_agent(f"{mine}:Seeded", task_id="core/softmax", seed=5)
    assert agent.act(START).text == "seed 5 7"


@pytest.mark.parametrize(
    ("spec", "fact"),
    [
        ("scriptd", r"no agent 'scriptd'\. Did you mean 'scripted'\? Agents are scripted, random"),
        ("", r"no agent ''\. Agents are"),
        ("mine.py", r"no agent 'mine\.py'\. Name the class .*path/to/file\.py:ClassName"),
        ("{mine}:Demanding", r"Demanding in .* its constructor wants ask, model, and only task_id"),
        ("gone.py:Mine", r"no file 'gone\.py'"),
        ("{mine}:Mne", r"no class 'Mne'\. Did you mean 'Mine'\?"),
        ("{mine}:number", r"no class 'number'"),
        ("{mine}:", r"no class ''"),
        ("{mine}:Nameless", r"Nameless in .* is no agent: it has no name, no reset\."),
    ],
)
def test_an_agent_that_is_not_there_gets_a_remedy(mine: Path, spec: str, fact: str) -> None:
    with pytest.raises(UnknownAgent, match=fact):
        load_agent(spec.format(mine=mine), task_id="core/softmax", seed=1)


def test_what_the_code_of_an_agent_raises_is_shown_to_its_author(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0")
    with pytest.raises(ZeroDivisionError):
        load_agent(f"{path}:Mine", task_id="core/softmax", seed=1)


def test_agents_need_neither_torch_nor_the_judge() -> None:
    code = (
        "import sys; from cuda_gym.agents.registry import load_agent; "
        "load_agent('scripted', task_id='core/softmax'); "
        "sys.exit(any(m == 'torch' or m.startswith('cuda_gym.judge.') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
