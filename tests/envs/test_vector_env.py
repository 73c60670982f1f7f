from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from cuda_gym.core.task import Task
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
from cuda_gym.envs.vector_env import ThreadVectorEnv, make_thread_vector_env

RIGHT = format_action({"model_new.py": "# judge: correct 2.0\n"}, ToolCall("profile"))
WRONG = format_action({"model_new.py": "# judge: wrong\n"}, ToolCall("profile"))
SUBMIT = '{"name": "submit"}'


@pytest.fixture
def registered(task: Task, make_judge: Callable[..., Any]) -> Iterator[str]:
    def make_env(**kwargs: Any) -> CudaKernelEnv:
        return CudaKernelEnv(task=task, judge=make_judge(), **kwargs)

    def make_vector(**kwargs: Any) -> ThreadVectorEnv:
        return make_thread_vector_env(task=task, judge=make_judge(), **kwargs)

    gym.register(
        "ScriptedVector-v0",
        entry_point=make_env,
        vector_entry_point=make_vector,
        nondeterministic=True,
    )
    yield "ScriptedVector-v0"
    del gym.registry["ScriptedVector-v0"]


MODES: list[dict[str, Any]] = [
    {},
    {"vectorization_mode": "vector_entry_point"},
    {"vectorization_mode": "sync"},
    {"vectorization_mode": "async", "vector_kwargs": {"shared_memory": False}},
]


@pytest.mark.parametrize("mode", MODES, ids=["default", "threads", "sync", "async"])
def test_every_mode_of_make_vec_plays_mixed_episodes(registered: str, mode: dict[str, Any]) -> None:
    envs = gym.make_vec(registered, num_envs=3, max_turns=2, **mode)
    observations, _ = envs.reset(seed=0)
    assert all("Task test/relu" in text for text in observations["text"])
    observations, rewards, *_, infos = envs.step((RIGHT, WRONG, "µs"))
    assert rewards.tolist() == [2.0, 0.0, 0.0]
    assert observations["stage"].tolist() == [4, 2, 0]
    assert infos["outcome"].tolist() == ["correct", "wrong", None]
    assert "2.00x" in observations["text"][0]
    assert "neither a tool call" in observations["text"][2]
    _, rewards, terminated, truncated, _ = envs.step((SUBMIT, WRONG, RIGHT))
    assert rewards.tolist() == [0.0, 0.0, 2.0]
    assert terminated.tolist() == [True, True, True]
    assert not truncated.any()
    observations, rewards, terminated, *_ = envs.step((RIGHT, RIGHT, RIGHT))
    assert rewards.tolist() == [0.0, 0.0, 0.0]
    assert not terminated.any()
    assert all("Task test/relu" in text for text in observations["text"])
    envs.close()


def test_shared_memory_is_refused_with_the_way_out(registered: str) -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        gym.make_vec(registered, num_envs=2, vectorization_mode="async")


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_autoreset_is_that_of_gymnasiums_own_vector(mode: AutoresetMode) -> None:
    makers = [lambda: gym.make("CartPole-v1", max_episode_steps=7) for _ in range(3)]
    ours = ThreadVectorEnv(makers, autoreset_mode=mode)
    theirs = SyncVectorEnv(makers, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    pairs = [(envs.reset(seed=3)[0]) for envs in (ours, theirs)]
    np.testing.assert_array_equal(*pairs)
    actions = np.random.default_rng(0).integers(0, 2, (40, 3))
    for action in actions:
        one, other = ours.step(action), theirs.step(action)
        for mine, reference in zip(one[:4], other[:4], strict=True):
            np.testing.assert_array_equal(mine, reference)
        assert one[4].keys() == other[4].keys()
        ended = one[2] | one[3]
        if mode is AutoresetMode.DISABLED and ended.any():
            masked = [e.reset(options={"reset_mask": ended.copy()})[0] for e in (ours, theirs)]
            np.testing.assert_array_equal(*masked)
    ours.close()
    theirs.close()


def test_the_same_step_reset_keeps_the_final_observation(task: Task, judge: Any) -> None:
    envs = make_thread_vector_env(2, task=task, judge=judge, autoreset_mode="SameStep")
    envs.reset()
    observations, _, terminated, _, infos = envs.step((SUBMIT, RIGHT))
    assert terminated.tolist() == [True, False]
    assert "The episode is over" in infos["final_obs"][0]["text"]
    assert infos["final_obs"][1] is None
    assert "Task test/relu" in observations["text"][0]
    envs.close()


def test_turns_run_at_the_same_time(task: Task, make_judge: Callable[..., Any]) -> None:
    barrier = threading.Barrier(3, timeout=10)

    class Meeting(type(make_judge())):  # type: ignore[misc]
        def compile(self, task: Task, submission: Any) -> Any:
            barrier.wait()
            return super().compile(task, submission)

    envs = make_thread_vector_env(3, task=task, judge=Meeting())
    envs.reset()
    *_, infos = envs.step(('{"name": "compile"}',) * 3)
    assert infos["stage"].tolist() == ["compiled"] * 3
    envs.close()


def test_disabled_autoreset_asks_for_a_reset(task: Task, judge: Any) -> None:
    envs = make_thread_vector_env(2, task=task, judge=judge, autoreset_mode="Disabled")
    envs.reset()
    envs.step((SUBMIT, RIGHT))
    with pytest.raises(gym.error.ResetNeeded, match=r"\[0\]"):
        envs.step((RIGHT, RIGHT))
    with pytest.raises(ValueError, match="reset_mask"):
        envs.reset(options={"reset_mask": np.zeros(2, dtype=np.bool_)})
    envs.reset(options={"reset_mask": np.array([True, False])})
    assert envs.step((RIGHT, SUBMIT))[1].tolist() == [2.0, 0.0]
    envs.close()
