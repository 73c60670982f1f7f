"""The judge's own kernels as machine code for one GPU, compiled once and kept with all other builds.

Covered: either compiler of CUDA, so that whatever compiles a submission does for this. Not covered:
launching them (`sandbox/cuda_kernels.py`).
"""

from __future__ import annotations

from pathlib import Path

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.nvrtc_pool import compile_units, nvrtc_version
from cuda_gym.judge.toolchains.toolkit import find_nvcc

__all__ = ["own_cubin"]

_SOURCES = tuple(Path(__file__).with_name(name) for name in ("sealing.cu", "comparing.cu"))
_UNIT, _NAME = "own.cu", "own.cubin"
_DEADLINE_S = 120.0


def own_cubin(architecture: str, cache: BuildCache) -> Path:
    """The machine code of `sealing.cu` and `comparing.cu`; compiled where the cache has none.

    Args:
        architecture: As nvcc names it: `sm_90a`.
        cache: Where it is kept.

    Raises:
        MissingTool: there is neither nvcc nor NVRTC, or what is there does not know the architecture.
        CandidateTimeout: the compiler did not end.
        StorageError: the cache cannot be written.
    """
    try:
        identity = find_nvcc().identity
    except MissingTool:
        identity = "nvrtc {}.{}".format(*nvrtc_version())
    source = "".join(path.read_text("utf-8") for path in _SOURCES)
    key = digest("own kernels", identity, architecture, source)
    if found := cache.find(key):
        return found[0] / _NAME
    with cache.workspace() as folder:
        (folder / _UNIT).write_text(source, "utf-8")
        said = _compile(folder, _UNIT, architecture)
        if not (folder / _NAME).exists():
            raise MissingTool(
                f"The compiler of CUDA that is here cannot compile for this GPU ({architecture}): "
                f"{said.strip()[-300:]} Install a newer toolkit."
            )
        return cache.publish(key, {_NAME: folder / _NAME}, {}) / _NAME


def _compile(folder: Path, unit: str, architecture: str) -> str:
    """Leave the machine code in the folder, if that can be done; what the compiler said."""
    try:
        compiler = find_nvcc()
    except MissingTool:
        options = (f"--gpu-architecture={architecture}", "--std=c++17")
        [said] = compile_units(folder, [unit], options=options, headers={}, deadline_s=_DEADLINE_S)
        if said.status == 0:
            (folder / f"{unit}.cubin").rename(folder / _NAME)
        return said.log
    command = (f"-arch={architecture}", "-std=c++17", "-cubin", unit, "-o", _NAME)
    _, said_by_nvcc = compiler.run(command, folder=folder, deadline_s=_DEADLINE_S)
    return said_by_nvcc
