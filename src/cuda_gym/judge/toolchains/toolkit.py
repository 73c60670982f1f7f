"""Where nvcc is: on this machine, or in a wheel that pip has installed.

Covered: `CUDA_GYM_NVCC`, PATH, `CUDA_HOME` and `CUDA_PATH`, the usual folder, and the PyPI packages
`nvidia-cuda-nvcc` (with `nvidia-cuda-runtime` and `nvidia-cuda-cccl`). Not covered: whether a driver
is there, or is new enough.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler

__all__ = ["find_nvcc"]

_USUAL = Path("/usr/local/cuda")
_VARIABLE = "CUDA_GYM_NVCC"
_REMEDY = (
    "Install NVIDIA's CUDA toolkit so that nvcc is on PATH, or "
    "`pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl`; "
    f"{_VARIABLE} may name another one."
)
_RELEASE = re.compile(r"release [\d.]+, V([\d.]+)")


def find_nvcc(*, usual: Path = _USUAL) -> Compiler:
    """The nvcc to use, with the folders of its headers and libraries where it needs to be told.

    Args:
        usual: The folder in which NVIDIA's installer puts a toolkit.

    Raises:
        MissingTool: there is none, or it does not run; with how to get one.
    """
    chosen = os.environ.get(_VARIABLE)
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise MissingTool(
                f"{_VARIABLE} names {chosen!r}, which is no program. "
                "Correct it, or unset it to have one found."
            )
        return _described(path)
    for candidate in _candidates(usual):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return _described(str(candidate))
    raise MissingTool(f"There is no nvcc. {_REMEDY}")


def _candidates(usual: Path) -> Iterator[Path]:
    on_path = shutil.which("nvcc")
    if on_path:
        yield Path(on_path)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(variable):
            yield Path(folder) / "bin" / "nvcc"
    yield usual / "bin" / "nvcc"
    yield from _in_wheels()


def _in_wheels() -> Iterator[Path]:
    """Since CUDA 13 one folder holds a toolkit, `nvidia/cu13`; before, each package had its own."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    yield from sorted(packages.glob("cu[0-9]*/bin/nvcc"), reverse=True)
    yield packages / "cuda_nvcc" / "bin" / "nvcc"


@lru_cache
def _described(path: str) -> Compiler:
    try:
        shown = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingTool(f"{path} does not run: {error}. {_REMEDY}") from error
    found = _RELEASE.search(shown)
    return Compiler(
        command=(path, *_told_where(Path(path))),
        version=f"nvcc {found[1] if found else 'of unknown version'}",
        identity=hashlib.sha256("\0".join((path, shown)).encode()).hexdigest(),
    )


def _told_where(nvcc: Path) -> list[str]:
    """Options for headers and libraries that wheels keep where nvcc does not look."""
    options = []
    siblings = nvcc.parent.parent.parent  # .../nvidia, with cuda_runtime/ and cuda_cccl/ in CUDA 12
    for package in ("cuda_runtime", "cuda_cccl"):
        if (folder := siblings / package / "include").is_dir():
            options += ["-I", str(folder)]
    toolkit = nvcc.parent.parent
    for folder in (siblings / "cuda_runtime" / "lib", toolkit / "lib"):
        if any(folder.glob("libcudart.so*")):
            options += ["-L", str(folder)]
    return options
