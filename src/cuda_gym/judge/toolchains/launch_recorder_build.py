"""The launch recorder as the linker takes it: built once for a toolkit, and kept.

A submission's library is linked with these objects, and every call of the CUDA runtime that they
stand in for goes to them first. `launch_recorder` reads what they have noted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cuda_gym.errors import CandidateTimeout, MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache, digest
from cuda_gym.judge.toolchains.compiler import Compiler

__all__ = ["RecorderObjects", "recorder_objects", "recorder_version"]

_SOURCES = Path(__file__).parent / "cuda_runtime_library"
_FLAGS = ("-std=c++17", "-O2", "-Xcompiler=-fPIC,-fvisibility=hidden", "-I", str(_SOURCES))
_WRAPPED = re.compile(rb"(?<=\0)__wrap_(\w+)(?=\0)")
_KERNEL = "__global__ void set(int* x) { *x = 1; }\n"
_DEADLINE_S = 120.0


@dataclass(frozen=True, kw_only=True)
class RecorderObjects:
    """What a library is linked with so that its launches are recorded."""

    objects: tuple[str, ...]
    """Paths of object files."""
    wrapped: tuple[str, ...]
    """Functions of the CUDA runtime that they stand in for."""

    @property
    def linker_options(self) -> tuple[str, ...]:
        """In the words of the linker itself; `-Xlinker=` or `-Wl,` hands them on."""
        return tuple(f"--wrap={name}" for name in self.wrapped)


def recorder_objects(cache: BuildCache, compiler: Compiler) -> RecorderObjects:
    """The recorder in a cache, built where it is not there.

    Raises:
        MissingTool: nvcc cannot build it.
        StorageError: the cache cannot be written.
    """
    key = digest("launch recorder", compiler.identity, recorder_version(), *_FLAGS)
    found = cache.find(key)
    if found is not None:
        entry, facts = found
    else:
        entry, facts = _built(cache, compiler, key)
    return RecorderObjects(
        objects=tuple(str(entry / name) for name in facts["objects"]),
        wrapped=tuple(facts["wrapped"]),
    )


@lru_cache
def recorder_version() -> str:
    """Content hash of its sources: part of the key of whatever is linked with it."""
    paths = sorted(path for path in _SOURCES.iterdir() if path.suffix in (".h", ".cpp"))
    return digest(*(part for path in paths for part in (path.name, path.read_text("utf-8"))))


def _built(cache: BuildCache, compiler: Compiler, key: str) -> tuple[Path, dict[str, list[str]]]:
    sources = sorted(_SOURCES.glob("*.cpp"))
    with cache.workspace() as folder:
        (folder / "kernel.cu").write_text(_KERNEL)
        # Where no kernel can be compiled at all, no submission is to blame for it.
        for command in ([*_FLAGS, "-c", *map(str, sources)], ["-c", "kernel.cu"]):
            try:
                status, said = compiler.run(command, folder=folder, deadline_s=_DEADLINE_S)
            except CandidateTimeout:
                status, said = 1, f"it took longer than {_DEADLINE_S:.0f} s"
            if status:
                raise MissingTool(
                    f"{compiler.version} compiles nothing here: {said.strip()[:500]}. It needs a host "
                    "compiler that it knows, such as g++. CUDA_GYM_NVCC may name another nvcc."
                )
        objects = {f"{source.stem}.o": folder / f"{source.stem}.o" for source in sources}
        names = {
            name.decode()
            for path in objects.values()
            for name in _WRAPPED.findall(path.read_bytes())
        }
        facts = {"objects": [*objects], "wrapped": sorted(names)}
        return cache.publish(key, objects, facts), facts
