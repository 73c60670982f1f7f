"""Many episodes at once, each in a thread of this process.

An episode waits for compilers and for the device, both in other processes, so threads run truly in
parallel, and text needs no pickling. Covered: all three autoreset modes of Gymnasium, with the
semantics of its `SyncVectorEnv`. Not covered: environments that are not Python-thread-safe among
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from cuda_gym.envs.cuda_kernel_env import CudaKernelEnv

__all__ = ["ThreadVectorEnv", "make_thread_vector_env"]

Transition = tuple[Any, float, bool, bool, dict[str, Any], dict[str, Any]]
"""observation, reward, terminated, truncated, info, and what a same-step reset adds to the infos"""


class ThreadVectorEnv(VectorEnv[Any, Any, Any]):
    """A vector of environments, one thread each.

    Args:
        env_fns: Make the environments.
        autoreset_mode: When an episode that ended begins anew.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env[Any, Any]]],
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__()
        self.envs = [env_fn() for env_fn in env_fns]
        self.num_envs = len(self.envs)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.envs[0].render_mode
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._latest: list[Any] = [None] * self.num_envs
        self._ended = np.zeros(self.num_envs, dtype=np.bool_)
        self._pool = ThreadPoolExecutor(self.num_envs, thread_name_prefix="cuda_gym-env")

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those of `options["reset_mask"]`.

        Args:
            seed: One for each; an integer counts up from the first.
            options: As of the single environment; `reset_mask` is a boolean array.
        """
        if seed is None or isinstance(seed, int):
            seeds: Sequence[int | None] = [
                None if seed is None else seed + i for i in range(self.num_envs)
            ]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"There are {self.num_envs} environments, but {len(seeds)} seeds.")
        options = dict(options or {})
        mask = np.asarray(options.pop("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask is a boolean array of shape ({self.num_envs},) with a True in it; "
                f"got {mask!r}."
            )
        chosen = [int(i) for i in np.flatnonzero(mask)]
        begun = self._pool.map(
            lambda i: self.envs[i].reset(seed=seeds[i], options=options or None), chosen
        )
        infos: dict[str, Any] = {}
        for i, (observation, info) in zip(chosen, list(begun), strict=True):
            self._latest[i] = observation
            self._ended[i] = False
            infos = self._add_info(infos, info, i)
        return self._batched(), infos

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take a turn in each environment, all at the same time."""
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise gym.error.ResetNeeded(
                f"The episodes {np.flatnonzero(self._ended).tolist()} are over. "
                "Call reset(options={'reset_mask': ...}) for them."
            )
        given = list(iterate(self.action_space, actions))
        taken = list(self._pool.map(self._step_one, range(self.num_envs), given))
        infos: dict[str, Any] = {}
        for i, (observation, _, _, _, info, final) in enumerate(taken):
            self._latest[i] = observation
            infos = self._add_info(infos, final, i)
            infos = self._add_info(infos, info, i)
        rewards = np.array([reward for _, reward, *_ in taken], dtype=np.float64)
        terminated = np.array([transition[2] for transition in taken], dtype=np.bool_)
        truncated = np.array([transition[3] for transition in taken], dtype=np.bool_)
        self._ended = terminated | truncated
        return self._batched(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...]:
        """The frames of all environments."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **_: Any) -> None:
        """Wait for the turns under way, then close all environments."""
        self._pool.shutdown()
        for env in self.envs:
            env.close()

    def _step_one(self, i: int, action: Any) -> Transition:
        env = self.envs[i]
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._ended[i]:
            observation, info = env.reset()
            return observation, 0.0, False, False, info, {}
        observation, reward, terminated, truncated, info = env.step(action)
        final: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and (terminated or truncated):
            final = {"final_obs": observation, "final_info": info}
            observation, info = env.reset()
        return observation, float(reward), terminated, truncated, info, final

    def _batched(self) -> Any:
        empty: Any = create_empty_array(self.single_observation_space, n=self.num_envs, fn=np.zeros)
        return concatenate(self.single_observation_space, self._latest, empty)


def make_thread_vector_env(
    num_envs: int = 1,
    *,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    **kwargs: Any,
) -> ThreadVectorEnv:
    """`gymnasium.make_vec("CudaKernel-v0", num_envs=...)`.

    Args:
        num_envs: How many.
        autoreset_mode: `NextStep`, `SameStep` or `Disabled`.
        kwargs: As of `CudaKernelEnv`.
    """
    return ThreadVectorEnv(
        [lambda: CudaKernelEnv(**kwargs) for _ in range(num_envs)], autoreset_mode=autoreset_mode
    )
