"""Which GPUs this process may use, and what the driver says of them. No torch, no CUDA context.

Covered: no driver, a broken one, one that does not answer; `CUDA_VISIBLE_DEVICES`; slices of a card
(MIG). Everything is asked once a process. Not covered: a GPU that comes or goes later.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling.driver_errors import explain_driver_error
from cuda_gym.judge.profiling.nvml import driver_version, parent_uuid
from cuda_gym.judge.profiling.torch_build import torch_cuda

__all__ = [
    "Gpu",
    "best_device",
    "find_gpu",
    "list_gpus",
    "query_driver",
    "read_gpus",
    "why_no_gpu",
    "why_not_best",
]

_PROGRAM = Path(__file__).with_name("driver_query.py")
_DEADLINE_S = 30.0
"""A driver that loads at its first use, on a machine with many cards, takes some seconds."""
_MODULE = Path("/proc/driver/nvidia/version")
_VERSION = re.compile(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b")


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU, or a slice of one, as this process may use it."""

    index: int
    """As in `cuda:N`, counted among what is visible."""
    name: str
    uuid: str
    """`GPU-...`, or `MIG-...` for a slice."""
    lock_uuid: str
    """The physical card, which slices share: whoever times on one disturbs the others."""
    capability: tuple[int, int]
    """(9, 0) is sm_90."""
    memory_bytes: int
    driver: str
    """Its version; `unknown` where nobody says."""
    cuda_version: tuple[int, int]
    """The newest CUDA that the driver runs."""
    num_multiprocessors: int
    l2_bytes: int
    """0 where the driver does not say."""
    exports_memory: bool
    """Whether memory can be handed to another process as a file descriptor."""
    is_mig: bool
    is_shared: bool = True
    """Whether several processes may use it at once, as a judge's do."""
    peak_gb_per_s: float | None = None
    """Bus width times twice the clock of the memory; None where the driver does not say."""

    @property
    def architecture(self) -> str:
        """As nvcc names it."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    @property
    def description(self) -> str:
        """All of it that changes times: `NVIDIA H200, sm_90, driver 580.95.05 (CUDA 13.0)`."""
        major, minor = self.cuda_version
        return f"{self.name}, {self.architecture}, driver {self.driver} (CUDA {major}.{minor})"


def list_gpus() -> tuple[Gpu, ...]:
    """Every GPU that is visible; none where there is no driver that works."""
    return _found()[0]


def why_no_gpu() -> str:
    """Why there is none, with the remedy; empty where there is one."""
    return _found()[1]


def find_gpu(device: Device) -> Gpu:
    """The GPU of a device.

    Raises:
        MissingTool: there is none of that index, or none at all; with the remedy.
        ValueError: it is no GPU.
    """
    if device.kind != "cuda":
        raise ValueError(f"{device} is no GPU; GPUs are cuda:0, cuda:1, ...")
    gpus = list_gpus()
    if not gpus:
        reason = re.sub(r"^(The|There)\b", lambda word: word[0].lower(), why_no_gpu())
        raise MissingTool(f"There is no {device}: {reason} Or use the device `cpu`.")
    if device.index >= len(gpus):
        names = ", ".join(f"cuda:{gpu.index}" for gpu in gpus)
        raise MissingTool(f"There is no {device}. What is visible here: {names}.")
    return gpus[device.index]


def best_device(*, has_toolkit: Callable[[], bool] = lambda: True) -> Device:
    """The first GPU, where a toolkit and a torch that drive it are there; else `cpu`.

    Args:
        has_toolkit: Whether something here compiles for a GPU; asked only where there is one.
    """
    return Device("cpu") if why_not_best(has_toolkit) else Device("cuda", 0)


def why_not_best(has_toolkit: Callable[[], bool] = lambda: True) -> str:
    """Why `auto` does not mean a GPU; empty where it does."""
    if not list_gpus():
        return why_no_gpu()
    build = torch_cuda()
    if build is None:
        return "torch is not built for CUDA."
    if list_gpus()[0].cuda_version[0] < build[0]:
        return f"torch is built for CUDA {build[0]}, which is newer than the driver."
    return "" if has_toolkit() else "There is no CUDA toolkit."


@cache
def _found() -> tuple[tuple[Gpu, ...], str]:
    answer = query_driver(os.environ)
    if error := answer.get("error"):
        call, status = error
        return (), explain_driver_error(call, status, os.environ)
    gpus = read_gpus(answer, driver=_driver_version(), parent=parent_uuid)
    return gpus, "" if gpus else explain_driver_error("cuDeviceGetCount", 100, os.environ)


def query_driver(environment: Mapping[str, str]) -> Mapping[str, Any]:
    """What the driver answers in a process of its own.

    Args:
        environment: Of that process.
    """
    command = [sys.executable, "-I", "-S", str(_PROGRAM)]
    asked = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        said, _ = asked.communicate(timeout=_DEADLINE_S)
    except subprocess.TimeoutExpired:
        asked.kill()
        with suppress(subprocess.TimeoutExpired):  # the kernel may not let it go
            asked.communicate(timeout=1.0)
        return {"error": ["wait", 0]}
    try:
        answer: Mapping[str, Any] = json.loads(said)
    except ValueError:  # the driver has taken the process with it
        return {"error": ["cuInit", 999]}
    return answer


def read_gpus(
    answer: Mapping[str, Any], *, driver: str, parent: Callable[[str], str | None]
) -> tuple[Gpu, ...]:
    """The GPUs of an answer of the driver.

    Args:
        answer: Of `query_driver`.
        driver: Its version.
        parent: The card that a slice belongs to, by the slice's UUID.
    """
    version = answer["cuda"]
    return tuple(
        _read_gpu(told, driver, (version // 1000, version % 1000 // 10), parent)
        for told in answer["gpus"]
    )


def _read_gpu(
    told: Mapping[str, Any],
    driver: str,
    cuda_version: tuple[int, int],
    parent: Callable[[str], str | None],
) -> Gpu:
    is_mig = " MIG " in told["name"]
    uuid = f"{'MIG' if is_mig else 'GPU'}-{told['uuid']}"
    # The slices of a card share its place on the bus.
    card = (parent(uuid) or f"PCI-{told['pci']}") if is_mig else uuid
    clock_khz, bus_bits = told["memory_clock_khz"] or 0, told["bus_bits"] or 0
    return Gpu(
        index=told["index"],
        name=told["name"],
        uuid=uuid,
        lock_uuid=card,
        capability=(told["major"] or 0, told["minor"] or 0),
        memory_bytes=told["memory_bytes"],
        driver=driver,
        cuda_version=cuda_version,
        num_multiprocessors=told["num_multiprocessors"] or 1,
        l2_bytes=told["l2_bytes"] or 0,
        exports_memory=bool(told["has_virtual_memory"] and told["exports_descriptors"]),
        is_mig=is_mig,
        is_shared=not told["compute_mode"],
        peak_gb_per_s=2 * clock_khz * 1e3 * bus_bits / 8 / 1e9 or None,
    )


def _driver_version() -> str:
    with suppress(OSError):
        if found := _VERSION.search(_MODULE.read_text(encoding="utf-8", errors="replace")):
            return found[1]
    return driver_version() or "unknown"
