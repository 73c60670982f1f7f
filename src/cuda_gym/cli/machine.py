"""What this machine is, as rows of `doctor`: nothing here starts torch or a kernel.

Covered: Python, torch, processor, compilers, cache, disk; GPUs are in `gpu_checks`. Not covered: what only trying shows;
`judge.sandbox.probes` and a real judgement do that.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from cuda_gym.cli.gpu_checks import gpu_checks
from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling import telemetry
from cuda_gym.judge.sandbox.probes import Check, CheckState
from cuda_gym.judge.toolchains.build_cache import cache_root
from cuda_gym.judge.toolchains.registry import make_toolchain

__all__ = ["machine_checks"]

_MIN_FREE_BYTES = 2 << 30


def machine_checks(device: Device) -> Iterator[Check]:
    """Everything that can be read off.

    Args:
        device: The one that episodes would be played on.
    """
    yield _ok("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield _torch()
    cores = telemetry.num_cores()
    yield _ok(
        "processor", f"{telemetry.cpu_name()}, {cores} core{'s' if cores != 1 else ''} usable"
    )
    yield _memory()
    yield _compiler(device)
    yield _torch_compile(device)
    yield from gpu_checks(device)
    yield _cache()
    yield _disk()


def _ok(what: str, fact: str, *, is_needed: bool = True) -> Check:
    return Check(what=what, state=CheckState.OK, fact=fact, is_needed=is_needed)


def _torch() -> Check:
    try:
        return _ok("torch", importlib.metadata.version("torch"))
    except importlib.metadata.PackageNotFoundError:
        return Check(
            what="torch",
            state=CheckState.MISSING,
            fact="not installed",
            remedy="pip install 'torch>=2.9'",
            is_needed=True,
        )


def _memory() -> Check:
    what = "memory"
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if total >= 4 << 30:
        return _ok(what, _size(total))
    return Check(
        what=what,
        state=CheckState.DEGRADED,
        fact=f"{_size(total)}; the workers alone take some 2 GiB",
        remedy="Play tasks of `core`, one episode at a time.",
    )


def _compiler(device: Device) -> Check:
    what = f"compiler for {device}"
    try:
        return _ok(what, make_toolchain(device).name)
    except MissingTool as error:
        fact, _, remedy = str(error).partition(". ")
        return Check(
            what=what,
            state=CheckState.MISSING,
            fact=fact,
            remedy=remedy,
            is_needed=True,
        )


def _torch_compile(device: Device) -> Check:
    """What torch.compile needs: g++ and Python's headers, and Triton where it compiles for a GPU."""
    lacking = [] if shutil.which("g++") else ["g++"]
    headers = sysconfig.get_path("include")
    if not (Path(headers) / "Python.h").is_file():
        lacking.append(f"{headers}/Python.h")
    has_triton = device.kind == "cpu" or importlib.util.find_spec("triton") is not None
    if not lacking and has_triton:
        found = "g++ and Python.h" if device.kind == "cpu" else "g++, Python.h and Triton"
        return _ok("torch.compile", f"finds {found}")
    remedies = ["apt install g++ python3-dev, or use a Python that has its headers."] * bool(
        lacking
    )
    if not has_triton:
        lacking.append("Triton")
        remedies.append("pip install triton; a CUDA build of torch brings it along.")
    return Check(
        what="torch.compile",
        state=CheckState.MISSING,
        fact=f"does not find {' and '.join(lacking)}, so there is no baseline",
        remedy=" ".join(remedies),
        is_needed=True,
    )


def _cache() -> Check:
    folder = cache_root()
    sizes, is_writable = 0, os.access(_existing(folder), os.W_OK)
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                sizes += path.stat().st_size
    if is_writable:
        return _ok("cache", f"{folder}, {_size(sizes)}")
    return Check(
        what="cache",
        state=CheckState.MISSING,
        fact=f"{folder} cannot be written",
        remedy="Let CUDA_GYM_CACHE name a folder that can.",
        is_needed=True,
    )


def _disk() -> Check:
    folder = _existing(cache_root())
    free = shutil.disk_usage(folder).free
    if free >= _MIN_FREE_BYTES:
        return _ok("free disk", f"{_size(free)} at {folder}")
    return Check(
        what="free disk",
        state=CheckState.DEGRADED,
        fact=f"{_size(free)} at {folder}; builds and baselines take up to {_size(_MIN_FREE_BYTES)}",
        remedy="Free some space, or let CUDA_GYM_CACHE name a folder on another disk.",
    )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _size(num_bytes: int) -> str:
    mib = num_bytes / (1 << 20)
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"
