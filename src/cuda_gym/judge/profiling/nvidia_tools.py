"""Where NVIDIA's tools are: programs that start another one and look into it.

Covered: PATH, `CUDA_HOME` and `CUDA_PATH`, the folders of NVIDIA's installers, wheels that pip has
installed. Not covered: whether a tool runs, or is allowed what it needs.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

__all__ = ["USUAL_FOLDERS", "find_tool"]

USUAL_FOLDERS = (Path("/usr/local/cuda"), Path("/opt/cuda"))
"""Where NVIDIA's installer and the distributions put a toolkit."""


def find_tool(
    name: str, *, beside: tuple[str, ...] = (), usual: tuple[Path, ...] = USUAL_FOLDERS
) -> Path | None:
    """The program of that name; None where there is none.

    Args:
        name: As `ncu`.
        beside: Folders of a toolkit that may hold it, other than `bin`, as patterns.
        usual: Folders of toolkits.
    """
    on_path = shutil.which(name)
    candidates = [Path(on_path)] if on_path else []
    for toolkit in _toolkits(usual):
        for folder in ("bin", *beside):
            candidates += sorted(toolkit.glob(f"{folder}/{name}"), reverse=True)
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def _toolkits(usual: tuple[Path, ...]) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(variable):
            yield Path(folder)
    yield from usual
    yield from sorted((Path(sysconfig.get_path("purelib")) / "nvidia").glob("c*"), reverse=True)
