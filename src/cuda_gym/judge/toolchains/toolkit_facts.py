"""What a toolkit can build and what its builds need, asked of nvcc itself.

Covered: architectures, with the variants that hold for one GPU only; the CUDA runtime to link with, in
an installed toolkit and in wheels; a driver that is older than the toolkit. Not covered: NVRTC.
"""

from __future__ import annotations

import re
import subprocess
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.compiler import Compiler

__all__ = [
    "architecture_for",
    "cuda_runtime",
    "require_architecture",
    "require_driver",
    "toolkit_release",
]

_LIBRARIES = re.compile(r"^#\$ LIBRARIES=(.*)$", re.M)
_FOLDER = re.compile(r'"?-L([^"\s]+)"?')
_VERSION = re.compile(r"(\d+)\.(\d+)")
_DEADLINE_S = 60.0


def toolkit_release(compiler: Compiler) -> tuple[int, int] | None:
    """Major and minor version; None where nvcc does not say.

    >>> toolkit_release(Compiler(command=("nvcc",), version="nvcc 13.0.88", identity=""))
    (13, 0)
    """
    found = _VERSION.search(compiler.version)
    return None if found is None else (int(found[1]), int(found[2]))


def architecture_for(compiler: Compiler, capability: tuple[int, int]) -> str:
    """The name by which nvcc knows a GPU: `sm_90a`, which has all that this GPU can, or `sm_90`."""
    plain = f"sm_{capability[0]}{capability[1]}"
    specific = f"{plain}a"
    return specific if capability >= (9, 0) and _builds(compiler, specific) else plain


def require_architecture(compiler: Compiler, architecture: str) -> None:
    """See to it that nvcc knows an architecture.

    Raises:
        MissingTool: it does not, with the remedy.
    """
    if _builds(compiler, architecture):
        return
    known = _known(compiler)
    remedy = f"It builds for {', '.join(known)}. " if known else ""
    oldest = min(map(_number, known), default=0)
    other = "an older" if _number(architecture) < oldest else "a newer"
    raise MissingTool(
        f"{compiler.version} does not build for {architecture}, which this GPU needs. {remedy}"
        f"Install {other} CUDA toolkit and let CUDA_GYM_NVCC name its nvcc."
    )


def require_driver(compiler: Compiler, driver_cuda: tuple[int, int] | None) -> None:
    """See to it that a driver runs what nvcc builds; within one major version every driver does.

    Args:
        compiler: nvcc.
        driver_cuda: The newest CUDA of the driver; None where that is not known.

    Raises:
        MissingTool: the toolkit is of a later major version, with the remedy.
    """
    release = toolkit_release(compiler)
    if release is None or driver_cuda is None or release[0] <= driver_cuda[0]:
        return
    major, minor = driver_cuda
    raise MissingTool(
        f"{compiler.version} builds for CUDA {release[0]}, and the driver runs CUDA {major}.{minor} at "
        f"most. Update the driver, or install CUDA toolkit {major} and let CUDA_GYM_NVCC name its nvcc."
    )


@lru_cache
def cuda_runtime(compiler: Compiler) -> Path:
    """The shared library of the CUDA runtime that belongs to an nvcc.

    Raises:
        MissingTool: there is none.
    """
    folders = [
        option.removeprefix("-L") or following
        for option, following in zip(compiler.command, (*compiler.command[1:], ""), strict=True)
        if option.startswith("-L")
    ]
    said = _LIBRARIES.search(_dry_run(compiler, "-cudart=shared", "-shared")[1])
    folders += _FOLDER.findall(said[1]) if said else []
    for folder in map(Path, folders):
        found = sorted(folder.glob("libcudart.so*"))
        if found and folder.name != "stubs":
            return found[0].parent.resolve() / found[0].name
    raise MissingTool(
        f"{compiler.version} comes without libcudart.so, the CUDA runtime. Install the whole toolkit, or "
        "`pip install nvidia-cuda-runtime` beside nvidia-cuda-nvcc."
    )


@lru_cache
def _builds(compiler: Compiler, architecture: str) -> bool:
    return _dry_run(compiler, "-c", f"-arch={architecture}")[0] == 0


@lru_cache
def _known(compiler: Compiler) -> tuple[str, ...]:
    return tuple(_run(compiler, "--list-gpu-code")[1].split())


def _number(architecture: str) -> int:
    found = re.search(r"\d+", architecture)
    return int(found[0]) if found else 0


def _dry_run(compiler: Compiler, *options: str) -> tuple[int, str]:
    """What nvcc would do with a file; it need not be there."""
    return _run(compiler, "--dryrun", *options, "a.cu")


def _run(compiler: Compiler, *options: str) -> tuple[int, str]:
    try:
        done = subprocess.run(
            [*compiler.command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingTool(f"{compiler.command[0]} does not run: {error}.") from error
    return done.returncode, done.stdout
