"""A device that was typed, and its judge."""

from __future__ import annotations

from cuda_gym.cli.exit_codes import UsageError
from cuda_gym.core.device import Device
from cuda_gym.judge.judge import Judge, open_judge
from cuda_gym.judge.toolchains.registry import resolve_device

__all__ = ["device_of", "judge_of"]


def device_of(text: str) -> Device:
    """The device of a name; whether it is there shows when it is used.

    Raises:
        UsageError: it is no name of a device.
    """
    try:
        return resolve_device(text) if text == "auto" else Device.parse(text)
    except ValueError as error:
        raise UsageError(f"{error} Or 'auto'.") from None


def judge_of(device: str) -> Judge:
    """The judge of a device; its processes end with ours.

    Raises:
        UsageError: it is no name of a device.
        MissingTool: nothing here drives it, or it is not there.
    """
    return open_judge(str(device_of(device)))
