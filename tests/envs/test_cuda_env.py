"""Episodes on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
import torch
from tests.conftest import SCALE_KERNEL, SCALE_MODEL

from cuda_gym.agents.registry import load_agent
from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Task
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.envs.session import Session
from cuda_gym.episode import play
from cuda_gym.judge.judge import open_judge
from cuda_gym.tasks.registry import load_task
from cuda_gym.tasks.sizes import sized_for

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]

DEVICE = "cuda:0"
FILES = {"model_new.py": SCALE_MODEL, "kernels/scale.cu": SCALE_KERNEL}
WRITE = format_action(FILES, ToolCall("compile"))
SUBMIT = format_action(call=ToolCall("submit"))


def call(name: str, **arguments: Any) -> str:
    return format_action(call=ToolCall(name, arguments))


@pytest.fixture
def env(scale_task: Task) -> Iterator[gym.Env[Any, Any]]:
    env: gym.Env[Any, Any] = gym.make(
        "cuda_gym:CudaKernel-v0", task=scale_task, device=DEVICE, disable_env_checker=True
    )
    env.reset()
    yield env
    env.close()


def test_the_first_observation_names_the_gpu(scale_task: Task) -> None:
    env: gym.Env[Any, Any] = gym.make(
        "cuda_gym:CudaKernel-v0", task=scale_task, device=DEVICE, disable_env_checker=True
    )
    first, _ = env.reset()
    assert torch.cuda.get_device_name(0) in first["text"]
    env.close()


def test_an_episode_ends_with_a_verdict_and_a_reward(env: gym.Env[Any, Any]) -> None:
    compiled, reward, *_ = env.step(WRITE)
    assert "registers" in compiled["text"]
    assert reward == 0.0
    verified, reward, *_ = env.step(call("verify"))
    assert "Right" in verified["text"]
    assert reward == 0.0
    timed, reward, *_, info = env.step(call("profile"))
    assert info["outcome"] == "correct", timed["text"]
    assert float(reward) > 0.0
    *_, terminated, truncated, info = env.step(SUBMIT)
    assert (terminated, truncated) == (True, False)
    assert info["outcome"] == "correct"
    assert info["speedup"] > 0.0


@pytest.mark.slow
def test_counters_are_shown_or_missed_with_a_reason(env: gym.Env[Any, Any]) -> None:
    env.step(WRITE)
    page, *_, info = env.step(call("profile", detail="counters"))
    assert info["outcome"] == "correct", page["text"]
    assert "Counters of one call" in page["text"] or "these are the times" in page["text"]
    assert "torch.compile" in page["text"]


def test_a_wrong_kernel_pays_nothing_and_the_episode_goes_on(env: gym.Env[Any, Any]) -> None:
    wrong = {**FILES, "kernels/scale.cu": SCALE_KERNEL.replace("* weight[", "+ weight[")}
    page, reward, terminated, truncated, info = env.step(format_action(wrong, ToolCall("profile")))
    assert info["outcome"] == "wrong", page["text"]
    assert (float(reward), terminated, truncated) == (0.0, False, False)
    *_, info = env.step(format_action(FILES, ToolCall("profile")))
    assert info["outcome"] == "correct"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bias_gelu", "softmax", "matmul_bias_relu"])
def test_the_scripted_agent_plays_core_tasks_in_the_sizes_of_a_gpu(name: str) -> None:
    task = sized_for(load_task(f"core/{name}"), Device.parse(DEVICE))
    session = Session(task, open_judge(DEVICE))
    try:
        episode = play(session, load_agent("scripted", task_id=task.id))
    finally:
        session.close()
    assert episode.void is None
    assert episode.device == DEVICE
    assert episode.verdict is not None
    assert episode.verdict.outcome is Outcome.CORRECT, episode.verdict.summary
