"""Which files of a workspace make a submission."""

from __future__ import annotations

from cuda_gym.envs.folder import Parts

__all__ = ["KERNEL_SUFFIXES", "ROOT_FILES", "is_editable"]

KERNEL_SUFFIXES = (".cu", ".cuh", ".h", ".cpp", ".hpp")
"""Of files under kernels/."""

ROOT_FILES = ("model_new.py", "binding.cpp", "binding_registry.h")
"""Files beside kernels/; the last two are those of CUDA Agent's folder, and may be left out."""


def is_editable(parts: Parts) -> bool:
    """Whether a submission may hold a file of this path.

    >>> is_editable(("kernels", "scale.cu")), is_editable(("model.py",))
    (True, False)
    """
    if len(parts) == 1:
        return parts[0] in ROOT_FILES
    hidden = any(part.startswith(".") for part in parts)
    return parts[0] == "kernels" and parts[-1].endswith(KERNEL_SUFFIXES) and not hidden
