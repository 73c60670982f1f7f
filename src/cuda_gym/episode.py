"""Where an agent and an environment meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym

from cuda_gym.agents.agent import Agent
from cuda_gym.core.episode import Action, Episode, Turn
from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv
from cuda_gym.envs.session import Session
from cuda_gym.errors import CudaGymError

__all__ = ["play"]


def play(
    env: Session | gym.Env[Any, Any],
    agent: Agent,
    *,
    seed: int | None = None,
    task: str | None = None,
    on_turn: Callable[[int, Turn], None] | None = None,
) -> Episode:
    """Play one episode, from reset to settlement.

    It ends when the environment says so: at the latest with the last turn of its budget. It stays
    open afterwards.

    An agent that raises a `CudaGymError` (its model cannot be reached, say) ends the episode as
    void, with the reason, so that a run over many tasks goes on. Any other exception is a defect in
    the agent and passes through: its author wants the traceback.

    Args:
        env: A session, or a `CudaKernel-v0`, wrapped or not.
        agent: Who acts.
        seed: For the environment; a session has nothing to draw.
        task: The id of the task, where the environment is to choose; a session has its own.
        on_turn: Told the number of each turn, from 1, and the turn, once it is over.

    Raises:
        ValueError: the session has another task.
        TypeError: the environment is none of ours, or the agent returned no Action.
        UnknownTask: the environment knows no such task.

    Returns:
        The record. Where it is void, `void` says why and there is no verdict.
    """
    session = _reset(env, seed, task)
    ended = False
    while not ended:
        record = session.episode(agent.name)
        try:
            action = _act(agent, record)
        except CudaGymError as error:
            return replace(record, void=f"The agent {agent.name!r} gave up: {error}")
        if isinstance(env, Session):
            result = env.step(action)
            ended = result.terminated or result.truncated
        else:
            _, _, terminated, truncated, _ = env.step(action.text)
            ended = terminated or truncated
        if on_turn is not None:
            turns = session.episode(agent.name).turns
            on_turn(len(turns), turns[-1])
    return session.episode(agent.name)


def _reset(env: Session | gym.Env[Any, Any], seed: int | None, task: str | None) -> Session:
    """Begin an episode; the session that holds it."""
    if isinstance(env, Session):
        if task not in (None, env.task.id):
            raise ValueError(
                f"The session plays {env.task.id!r}, not {task!r}. "
                "Make a session for that task, or leave `task` away."
            )
        env.reset()
        return env
    ours = env.unwrapped
    if not isinstance(ours, CudaKernelEnv):
        raise TypeError(
            f"{type(ours).__name__} is no environment in which kernels are written. "
            'Use gym.make("CudaKernel-v0") or a Session.'
        )
    env.reset(seed=seed, options=None if task is None else {"task": task})
    return ours.session


def _act(agent: Agent, record: Episode) -> Action:
    """The agent's answer to what the environment said last; before its first, it is reset.

    Raises:
        TypeError: the answer is no Action.
    """
    if not record.turns:
        agent.reset(record.first)
    action = agent.act(record.turns[-1].observation if record.turns else record.first)
    if not isinstance(action, Action):
        raise TypeError(
            f"{agent.name}.act returned a {type(action).__name__}. Return cuda_gym.Action(text)."
        )
    return action
