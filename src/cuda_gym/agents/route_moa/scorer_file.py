"""A scorer's folder: what a damaged one is told as, and the library that reads its numbers.

Covered: files that are cut, empty, of another kind, or whose parts do not fit each other.
Not covered: numbers that were changed and still fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cuda_gym.errors import MissingTool, RosterError

__all__ = ["reading", "safetensors_of"]


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Tell whatever goes wrong meanwhile as a scorer that cannot be read.

    Raises:
        RosterError: it cannot.
        MissingTool: the extra `routemoa` is not installed.
    """
    broken = safetensors_of().SafetensorError
    try:
        yield
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        broken,
    ) as error:
        raise RosterError(
            f"The scorer in {folder} cannot be read ({type(error).__name__}: {error}). Train it and save it anew."
        ) from error


def safetensors_of() -> Any:
    """The library, with its part for numpy.

    Raises:
        MissingTool: it is not installed.
    """
    try:
        import safetensors.numpy
    except ModuleNotFoundError as error:
        raise MissingTool(
            "A scorer's file needs safetensors, which is not installed. "
            "`pip install 'cuda-gym[routemoa]'` brings it."
        ) from error
    return safetensors
