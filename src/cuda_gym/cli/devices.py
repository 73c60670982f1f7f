"""The judge of a device that was typed."""

from __future__ import annotations

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.judge.judge import Judge, open_judge

__all__ = ["judge_of"]


def judge_of(device: str) -> Judge:
    """The judge of a device; its processes end with ours.

    Raises:
        UsageError: it is no name of a device.
        MissingTool: nothing here drives it.
    """
    try:
        return open_judge(device)
    except ValueError as error:
        raise UsageError(str(error)) from None
