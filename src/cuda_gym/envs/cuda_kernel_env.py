"""A Session in Gymnasium's clothes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gymnasium as gym

from cuda_gym.core.episode import Action, Episode, Observation
from cuda_gym.core.task import Task
from cuda_gym.envs.rules import Rules
from cuda_gym.envs.session import Session, SessionJudge
from cuda_gym.envs.spaces import action_space, as_arrays, observation_space

__all__ = ["CudaKernelEnv"]


class CudaKernelEnv(gym.Env[dict[str, Any], str]):
    """Write CUDA kernels that compute what a PyTorch module computes, faster than torch.compile.

    ## Description
    The agent reads a reference module, writes `model_new.py` and CUDA C++ under `kernels/`, and has
    it compiled, verified on hidden inputs and timed, turn by turn. On a machine without a GPU the
    same source is compiled for the host and really run. One episode is one task.

    ## Action Space
    `UnicodeText`. One tool call a turn as JSON (`{"name": ..., "arguments": {...}}`, alone, fenced,
    or in `<tool_call>` tags), or fenced blocks that name a file, followed by an optional call.
    The tools: `read_skill`, `list_files`, `read_file`, `write_file`, `edit_file`, `search`,
    `compile`, `verify`, `profile`, `submit`. Any other text is answered with how to do it right.

    ## Observation Space
    `Dict`: `text` (`UnicodeText`, at most `observation_chars` characters, head and tail kept);
    `stage` (`Discrete`: start, edited, compiled, verified, timed, settled); `metrics` (`Box`,
    the numbers of `cuda_gym.envs.observation.METRICS` in their order); `metrics_present`
    (`MultiBinary`: which of them there are).

    ## Starting State
    A folder with `model.py`, `SKILL.md` and a skeleton of `model_new.py`. `reset(seed=...)` fixes
    the task and the first observation exactly; the judge's own seeds stay secret.

    ## Rewards
    A potential: each turn pays phi(best so far) - phi(paid so far), and the last turn judges the
    best submission afresh and settles. The return is exactly phi(final Verdict) - phi(none).
    - `speedup`: phi is the verified speed-up over torch.compile, 0 without a right kernel.
    - `log_speedup`: its logarithm to base 2, at least -1; -2 without a right kernel.
    - `milestone`: -1 not right, 1 right, 2 faster than eager, 3 than torch.compile too, by 5 %;
      paid at the end.

    ## Episode End
    Terminated by `submit` or by the last turn. Truncated only where the machine failed: the reward
    is 0.0, `info["void"]` says why, and the episode should be dropped.

    ## Information
    `task`, `tool`, `stage`, `outcome`, `verdict` (a plain dict), `speedup`, `void`. A key is missing
    where there is nothing to say.

    ## Arguments
    - `suite` (`"core"`): tasks are drawn from it.
    - `task` (`None`): the id of one task, or the path of a file in KernelBench's format.
    - `device` (`"auto"`): `cpu`, `cuda:0`, ...
    - `reward` (`"speedup"`): see Rewards.
    - `max_turns` (20), `observation_chars` (8000).
    - `workspace` (`None`): a folder to work in, kept afterwards.
    - `render_mode` (`None`): `ansi` or `human`.
    - `judge` (`None`): from Python only, a judge other than this machine's.

    `reset(options={"task": id})` chooses the task of one episode.

    ## Version History
    - v0: the first version.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 1}  # noqa: RUF012 (Gymnasium's own)

    def __init__(
        self,
        *,
        suite: str = "core",
        task: str | Task | None = None,
        device: str = "auto",
        reward: str = "speedup",
        max_turns: int = 20,
        observation_chars: int = 8000,
        workspace: str | None = None,
        render_mode: str | None = None,
        judge: SessionJudge | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"There is no render_mode {render_mode!r}. Use 'ansi', 'human' or None."
            )
        self.render_mode = render_mode
        self.action_space = action_space()
        self.observation_space = observation_space(observation_chars)
        self._suite = suite
        self._task = task
        self._device = device
        self._workspace = workspace
        self._rules = Rules(reward=reward, max_turns=max_turns, observation_chars=observation_chars)
        self._judge = judge
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The conversation under this environment, from the first `reset` on.

        Raises:
            gymnasium.error.ResetNeeded: there was no reset yet.
        """
        if self._session is None:
            raise gym.error.ResetNeeded(
                "There is no session before the first reset(). Call reset()."
            )
        return self._session

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Fixes the task and the first observation.
            options: `{"task": id}` chooses the task.

        Raises:
            UnknownTask: there is no such task.
            BadTask: the file is no task.
        """
        super().reset(seed=seed)
        if unknown := set(options or {}) - {"task"}:
            raise ValueError(f"There is no reset option {min(unknown)!r}; the only one is 'task'.")
        task = self._choose_task((options or {}).get("task"))
        if self._session is None or self._session.task != task:
            if self._session is not None:
                self._session.close()
            self._session = Session(
                task, self._open_judge(), workspace=self._workspace, **asdict(self._rules)
            )
        first = self._session.reset()
        self._show(None, first, 0.0)
        return as_arrays(first), {"task": task.id, "stage": first.stage.value}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take a turn. Any text is answered; none raises."""
        result = self.session.step(str(action))
        self._show(str(action), result.observation, result.reward)
        observation = as_arrays(result.observation)
        return observation, result.reward, result.terminated, result.truncated, result.info

    def render(self) -> str | None:
        """The latest turn as text (`ansi`); `human` prints by itself."""
        if self.render_mode != "ansi":
            return None
        episode = self.session.episode("")
        if not episode.turns:
            return episode.first.text
        turn = episode.turns[-1]
        return f"> {turn.action.text}\n\n{turn.observation.text}\n\nreward {turn.reward:+.4g}"

    def episode(self, agent: str) -> Episode:
        """The record of the present episode.

        Args:
            agent: Name of the agent.
        """
        return self.session.episode(agent)

    def close(self) -> None:
        """Let go of the workspace. The judge stays: other environments use it."""
        if self._session is not None:
            self._session.close()

    def _choose_task(self, asked: str | Task | None) -> Task:
        from cuda_gym.tasks.registry import list_tasks, load_task
        from cuda_gym.tasks.sizes import sized_for

        chosen = asked if asked is not None else self._task
        if isinstance(chosen, Task):
            return chosen
        if chosen is None:
            tasks = list_tasks(self._suite)
            task = tasks[int(self.np_random.integers(len(tasks)))]
        else:
            task = load_task(chosen)
        return sized_for(task, self._open_judge().device)

    def _open_judge(self) -> SessionJudge:
        if self._judge is None:
            from cuda_gym.judge.judge import open_judge

            self._judge = open_judge(self._device)
        return self._judge

    def _show(self, action: str | None, observation: Observation, reward: float) -> None:
        if self.render_mode != "human":
            return
        from cuda_gym.envs.rendering import print_turn

        print_turn(None if action is None else Action(action), observation, reward)
