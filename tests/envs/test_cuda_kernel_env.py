from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from tests.fake_driver import driver

from cuda_gym.core.task import Task
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
from cuda_gym.envs.observation import METRICS
from cuda_gym.errors import MissingTool, UnknownTask

RIGHT = format_action({"model_new.py": "# judge: correct 2.0\n"}, ToolCall("profile"))


@pytest.fixture
def scripted_id(task: Task, make_judge: Callable[..., Any]) -> Iterator[str]:
    """A registered environment whose judge is scripted."""

    def make_env(**kwargs: Any) -> CudaKernelEnv:
        return CudaKernelEnv(task=task, judge=make_judge(), **kwargs)

    gym.register("ScriptedCudaKernel-v0", entry_point=make_env, nondeterministic=True)
    yield "ScriptedCudaKernel-v0"
    del gym.registry["ScriptedCudaKernel-v0"]


@pytest.fixture
def env(task: Task, judge: Any) -> Iterator[CudaKernelEnv]:
    env = CudaKernelEnv(task=task, judge=judge, max_turns=3)
    yield env
    env.close()


def test_it_passes_gymnasiums_own_check_in_every_render_mode(
    scripted_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_env(gym.make(scripted_id).unwrapped)
    assert "Task test/relu" in capsys.readouterr().out


def test_a_gpu_that_is_not_there_is_told_when_an_episode_begins(tmp_path: Path) -> None:
    env = gym.make("CudaKernel-v0", task="core/row_sum", device="cuda:0")
    with driver(tmp_path, FAKE_INIT="100"), pytest.raises(MissingTool, match="There is no cuda:0"):
        env.reset()
    env.close()


def test_an_episode_through_all_of_gymnasiums_wrappers(scripted_id: str) -> None:
    env = gym.make(scripted_id)
    first, info = env.reset(seed=1)
    assert info == {"task": "test/relu", "stage": "start"}
    assert first in env.observation_space
    observation, reward, terminated, truncated, info = env.step(RIGHT)
    assert observation in env.observation_space
    assert (reward, terminated, truncated) == (2.0, False, False)
    *_, terminated, truncated, _ = env.step('{"name": "submit"}')
    assert terminated is True
    assert truncated is False
    env.close()


def test_numbers_stand_at_the_place_of_their_name(env: CudaKernelEnv) -> None:
    env.reset()
    observation = env.step(RIGHT)[0]
    numbers = dict(zip(METRICS, observation["metrics"], strict=True))
    present = dict(zip(METRICS, observation["metrics_present"], strict=True))
    assert numbers["speedup"] == np.float32(2.0)
    assert numbers["turns_left"] == 2
    assert present["speedup"] == 1
    assert (present["num_errors"], numbers["num_errors"]) == (1, 0)
    edited = env.step(format_action({"model_new.py": "x"}))[0]
    present = dict(zip(METRICS, edited["metrics_present"], strict=True))
    assert present["speedup"] == 0


def test_a_seed_fixes_task_and_first_observation(judge: Any) -> None:
    envs = [CudaKernelEnv(judge=judge) for _ in range(2)]
    chosen = set()
    for seed in range(12):
        (first, info), (second, _) = (env.reset(seed=seed) for env in envs)
        assert first["text"] == second["text"]
        chosen.add(info["task"])
    assert len(chosen) > 2
    for env in envs:
        env.close()


def test_options_choose_the_task_of_one_episode(judge: Any) -> None:
    env = CudaKernelEnv(judge=judge)
    _, info = env.reset(options={"task": "core/softmax"})
    assert info["task"] == "core/softmax"
    with pytest.raises(UnknownTask, match="core/softmax"):
        env.reset(options={"task": "core/softmx"})
    with pytest.raises(ValueError, match="'tsak'"):
        env.reset(options={"tsak": "core/softmax"})
    env.close()


def test_every_reset_begins_anew(env: CudaKernelEnv) -> None:
    first, _ = env.reset()
    env.step(RIGHT)
    again, _ = env.reset()
    assert again["text"] == first["text"]
    assert env.episode("x").turns == ()


def test_ansi_renders_the_latest_turn(task: Task, judge: Any) -> None:
    env = CudaKernelEnv(task=task, judge=judge, render_mode="ansi")
    env.reset()
    assert "Task test/relu" in (env.render() or "")
    env.step(RIGHT)
    frame = env.render() or ""
    assert frame.startswith("> ```python")
    assert frame.endswith("reward +2")
    env.close()


def test_human_prints_what_was_said_and_told(
    task: Task, judge: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    env = CudaKernelEnv(task=task, judge=judge, render_mode="human")
    env.reset()
    env.step("[bold]not markup[/bold]")
    printed = capsys.readouterr().out
    assert "[bold]not markup[/bold]" in printed
    assert "neither a tool call nor a file" in printed
    env.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"reward": "speedpu"}, "Did you mean 'speedup'?"),
        ({"max_turns": 0}, "got 0"),
        ({"observation_chars": 10}, "and 10"),
        ({"render_mode": "rgb_array"}, "'rgb_array'"),
    ],
)
def test_arguments_out_of_range_are_told_when_it_is_made(
    task: Task, judge: Any, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        CudaKernelEnv(task=task, judge=judge, **arguments)


def test_an_environment_that_was_not_reset_can_be_copied_and_sent(task: Task) -> None:
    env = CudaKernelEnv(task=task)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.observation_space == env.observation_space
    with pytest.raises(gym.error.ResetNeeded):
        env.step("")
