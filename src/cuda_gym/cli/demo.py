"""`cuda-gym demo`: one episode, shown so that a stranger understands what happened."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cuda_gym.cli.exit_codes import ExitCode, code_of_episodes

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen

__all__ = ["Demo"]


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Play one episode and explain it. Takes a minute or two the first time.

    Exit codes:
    - 0 the Verdict is correct
    - 1 it is not
    - 2 there is no such device or folder, or no script for the task
    - 3 the machine failed, or there is nothing to judge with
    - 4 there is no such task
    """

    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`, ...; `auto` is the best that can be driven here."""
    task: str = "core/bias_gelu"
    """A task that the scripted agent plays."""
    keep: Path | None = None
    """An empty folder to work in; left out, a new one among the temporary files. It is kept."""

    def run(self, screen: Screen) -> ExitCode:
        """Play it."""
        from cuda_gym.agents.registry import load_agent
        from cuda_gym.cli.devices import judge_of
        from cuda_gym.cli.kept_folder import check_folder
        from cuda_gym.cli.story import Story
        from cuda_gym.cli.watch import play_watched
        from cuda_gym.envs.session import Session
        from cuda_gym.tasks.registry import load_task
        from cuda_gym.tasks.sizes import sized_for

        task = load_task(self.task)
        agent = load_agent("scripted", task_id=task.id)
        judge = judge_of(self.device)
        task = sized_for(task, judge.device)
        if self.keep is not None:
            check_folder(self.keep, task, judge.device)
        folder = self.keep or Path(tempfile.mkdtemp(prefix="cuda_gym-demo-"))
        session = Session(task, judge, workspace=folder)
        story = Story(screen, task, judge.device, max_turns=session.rules.max_turns)
        story.begin()
        try:
            episode = play_watched(session, agent, screen, story.turn)
        finally:
            session.close()
        story.end(episode, folder)
        return code_of_episodes((episode,))
