"""The folder of `--keep`, tried before anything is shown or played."""

from __future__ import annotations

from pathlib import Path

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.envs.briefing import open_workspace
from cuda_gym.errors import StorageError, WorkspaceError

__all__ = ["check_folder"]


def check_folder(folder: Path, task: Task, device: Device) -> None:
    """See whether a task can be worked on in a folder, which is made where it is not there.

    Raises:
        UsageError: it cannot be written, is in use, or holds something else.
    """
    try:
        open_workspace(task, device, folder).close()
    except (StorageError, WorkspaceError) as error:
        raise UsageError(f"--keep: {error}") from None
