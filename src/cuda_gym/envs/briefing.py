"""What an agent finds before its first turn: the canonical text, and a folder to work in."""

from __future__ import annotations

from pathlib import Path

from cuda_gym.core.device import Device
from cuda_gym.core.task import Submission, Task
from cuda_gym.envs.prompt import system_prompt, workspace_page
from cuda_gym.envs.rules import Rules
from cuda_gym.envs.skeleton import skeleton_of
from cuda_gym.envs.workspace import Workspace

__all__ = ["first_text", "open_workspace"]


def first_text(task: Task, device: Device, rules: Rules) -> str:
    """The first observation: the same words as the system prompt of a language model."""
    return system_prompt(task, device, reward=rules.reward, max_turns=rules.max_turns)


def open_workspace(task: Task, device: Device, path: Path | None) -> Workspace:
    """A workspace of the task.

    Args:
        task: What is to be computed.
        device: Named in its SKILL.md.
        path: Where; None makes a temporary folder.

    Raises:
        StorageError: the folder is in use, not writable, or holds something else.
    """
    fixed = {"SKILL.md": workspace_page(task, device), "model.py": task.source}
    start = Submission.of({"model_new.py": skeleton_of(task.source)})
    return Workspace(fixed=fixed, start=start, path=path)
