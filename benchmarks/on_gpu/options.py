"""The options that every measurement on a GPU has."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.on_gpu.results import RESULTS, say

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.registry import resolve_device

__all__ = ["options", "parsed"]


def options(description: str | None, *, quick: str) -> argparse.ArgumentParser:
    """The device, where results go, and a shorter run.

    Args:
        description: Of the measurement.
        quick: What the shorter run leaves out.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", type=Device.parse, default=Device("cuda"))
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--to", type=Path, default=RESULTS)
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace | None:
    """What was asked for; None, and why, where the device is not here."""
    arguments = parser.parse_args()
    try:
        resolve_device(str(arguments.device))
    except MissingTool as error:
        say(f"There is nothing to measure here. {error}")
        return None
    return arguments
