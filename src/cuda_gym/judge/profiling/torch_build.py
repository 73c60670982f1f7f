"""For which CUDA torch was built, read off its files: importing it takes seconds."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

__all__ = ["read_torch_cuda", "torch_cuda"]

_CUDA = re.compile(r"^cuda\b[^=]*=\s*['\"](\d+)\.(\d+)", re.MULTILINE)


@cache
def torch_cuda() -> tuple[int, int] | None:
    """The CUDA of the torch that would be imported; None where it drives no NVIDIA GPU."""
    spec = importlib.util.find_spec("torch")
    folders = None if spec is None else spec.submodule_search_locations
    return read_torch_cuda(Path(next(iter(folders)))) if folders else None


def read_torch_cuda(folder: Path) -> tuple[int, int] | None:
    """The CUDA of a torch.

    Args:
        folder: Where its package lies.
    """
    try:
        found = _CUDA.search((folder / "version.py").read_text(encoding="utf-8"))
    except OSError:
        return None
    return (int(found[1]), int(found[2])) if found else None
