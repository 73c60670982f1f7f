"""Which devices there are, and what compiles for them. A new device is one line here."""

from __future__ import annotations

import importlib
from typing import cast

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.toolchain import Toolchain

_TOOLCHAINS = {"cpu": "cuda_gym.judge.toolchains.cpu:CpuToolchain"}
"""Where the toolchain of each kind of device is found; imported at the first use."""


def resolve_device(text: str) -> Device:
    """The device of a name; `auto` is the best one that this installation can drive.

    >>> str(resolve_device("auto"))
    'cpu'

    Raises:
        ValueError: where it is no name of a device.
        MissingTool: where nothing here drives that kind of device.
    """
    device = Device("cpu") if text == "auto" else Device.parse(text)
    if device.kind not in _TOOLCHAINS:
        known = ", ".join(sorted(_TOOLCHAINS))
        raise MissingTool(f"Nothing here drives {device}. Use --device {known} or auto.")
    return device


def make_toolchain(device: Device) -> Toolchain:
    """The toolchain of a device.

    Raises:
        MissingTool: where nothing here drives that kind of device.
    """
    resolve_device(str(device))
    module, _, name = _TOOLCHAINS[device.kind].partition(":")
    return cast("Toolchain", getattr(importlib.import_module(module), name)())
