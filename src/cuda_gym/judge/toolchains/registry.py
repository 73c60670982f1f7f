"""Which devices there are, and what compiles for them. A new device is one line here."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import cast

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.toolchain import Toolchain

__all__ = ["make_toolchain", "resolve_device"]

_TOOLCHAINS = {
    "cpu": "cuda_gym.judge.toolchains.cpu:CpuToolchain",
    "cuda": "cuda_gym.judge.toolchains.cuda:CudaToolchain",
}
"""Where the toolchain of each kind of device is found; imported at the first use."""


def resolve_device(text: str) -> Device:
    """The device of a name; `auto` is the best one that this installation can drive.

    >>> str(resolve_device("cpu"))
    'cpu'

    Raises:
        ValueError: where it is no name of a device.
        MissingTool: where there is no such device here, with the reason.
    """
    if text == "auto":
        return cast("Device", _gpus().best_device(has_toolkit=_has_toolkit))
    device = Device.parse(text)
    if device.kind == "cuda":
        _gpus().find_gpu(device)
    return device


def make_toolchain(device: Device) -> Toolchain:
    """The toolchain of a device; whether its compiler is there shows when it is asked for anything.

    Raises:
        MissingTool: where there is no such device here, with the reason.
    """
    resolve_device(str(device))
    module, _, name = _TOOLCHAINS[device.kind].partition(":")
    return cast("Toolchain", getattr(importlib.import_module(module), name)(device=device))


def _gpus() -> ModuleType:
    return importlib.import_module("cuda_gym.judge.profiling.gpus")


def _has_toolkit() -> bool:
    toolkit = importlib.import_module("cuda_gym.judge.toolchains.toolkit")
    try:
        toolkit.find_nvcc()
    except MissingTool:
        return False
    return True
