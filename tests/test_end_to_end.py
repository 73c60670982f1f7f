"""The registered environments, with the real judge behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, SCALE_TASK

import cuda_gym
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.actions import parse_action
from cuda_gym.judge.judge import Judge

CALL = '```json\n{"name": "%s", "arguments": {}}\n```'
FILES = (
    f"```python file=model_new.py\n{SCALE_MODEL}```\n```cuda file=kernels/a.cu\n{SCALE_KERNEL}```\n"
)

TWICE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return 2.0 * x


def get_inputs():
    return [torch.randn(96, 160)]


def get_init_inputs():
    return []
"""


@pytest.fixture(scope="module")
def task_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tasks") / "scale.py"
    path.write_text(SCALE_TASK)
    return str(path)


@pytest.mark.parametrize("id_", cuda_gym.ENVIRONMENTS)
def test_a_registered_environment_is_what_gymnasium_expects(id_: str, task_file: str) -> None:
    env = gym.make(id_, task=task_file, max_turns=3)
    check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync", "async"])
def test_environments_run_side_by_side(mode: str, task_file: str) -> None:
    kwargs: dict[str, Any] = {"task": task_file}
    if mode == "async":
        kwargs["vector_kwargs"] = {"shared_memory": False, "context": "spawn"}
    envs = gym.make_vec("cuda_gym:CudaKernel-v0", 2, mode, **kwargs)
    observations, _ = envs.reset(seed=3)
    assert observations["text"][0] == observations["text"][1]
    observations, rewards, terminated, truncated, _ = envs.step((CALL % "list_files", "nonsense"))
    assert "model.py" in observations["text"][0]
    assert np.all(rewards == 0.0)
    assert not terminated.any()
    assert not truncated.any()
    envs.close()


def test_an_episode_returns_the_verified_speedup(task_file: str, tmp_path: Path) -> None:
    env = gym.make("CudaKernel-v0", task=task_file, workspace=str(tmp_path / "work"))
    env.reset(seed=0)
    stages, total = [], 0.0
    wrong = FILES.replace("* weight[column]", "* 2.0f")
    for action in (
        wrong + CALL % "verify",
        FILES + CALL % "compile",
        CALL % "profile",
        CALL % "submit",
    ):
        observation, reward, terminated, truncated, info = env.step(action)
        stages.append(info["stage"])
        total += float(reward)
    assert stages == ["compiled", "compiled", "timed", "settled"]
    assert terminated
    assert not truncated
    assert total == pytest.approx(info["verdict"]["timing"]["speedup"], rel=1e-6)
    assert "torch.compile" in observation["text"]
    assert (tmp_path / "work" / "kernels" / "a.cu").read_text() == SCALE_KERNEL
    env.close()


def test_an_agent_plays_through_the_public_names(task_file: str) -> None:
    env = gym.make("CudaKernel-v0", task=task_file, max_turns=4)
    agent = cuda_gym.load_agent("random", task_id=task_file, seed=5)
    episode = cuda_gym.play(env, agent, seed=0)
    assert 1 <= len(episode.turns) <= 4
    assert episode.void is None
    env.close()


def test_the_example_of_the_system_prompt_is_an_action_that_verifies(judge: Judge) -> None:
    task = Task(id="test/twice", title="2 x", source=TWICE)
    prompt = cuda_gym.system_prompt(task, judge.device)
    example = prompt[prompt.index("```cuda file=") : prompt.index("\nmodel.py\n")]
    action = parse_action(example)
    assert action.call is not None
    assert (action.call.name, action.notes) == ("verify", ())
    files = Submission.of({write.path: write.content for write in action.writes})
    found = judge.verify(task, files)
    assert (found.outcome, found.diagnostics) == (Outcome.CORRECT, ())
