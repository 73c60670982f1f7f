"""What an extension of torch is compiled and linked with, read off torch's files.

Importing torch takes seconds, and the judge's process never does.

Covered: wheels of torch for Linux, with and without CUDA. Their C++ ABI is the new one of libstdc++
(`_GLIBCXX_USE_CXX11_ABI=1`) since torch 2.7, and older ones are not supported. Not covered: torch built
from source in place.
"""

from __future__ import annotations

import importlib.util
import re
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuda_gym.errors import MissingTool

__all__ = ["TorchFiles", "find_torch", "read_torch"]

_VERSION = re.compile(r"^__version__\s*(?::[^=]*)?=\s*['\"]([^'\"]+)", re.MULTILINE)
_CUDA = re.compile(r"^cuda\b[^=]*=\s*['\"](\d+)\.(\d+)", re.MULTILINE)
_STANDARD = re.compile(r"-std=c\+\+(\d\d)")
_LIBRARIES = ("c10", "c10_cuda", "torch_cpu", "torch_cuda", "torch", "torch_python")
_HERE = Path(__file__).parent / "torch_extension"


@dataclass(frozen=True, kw_only=True)
class TorchFiles:
    """One installed torch, as a compiler sees it."""

    version: str
    """As `torch.__version__` has it: `2.11.0+cu130`."""
    cuda: tuple[int, int] | None
    """The CUDA it was built for; None where it drives no NVIDIA GPU."""
    standard: int
    """Of C++, that its headers need: 17 or 20."""
    include_folders: tuple[Path, ...]
    """torch's own come first."""
    wheel_folders: tuple[Path, ...]
    """Headers of the CUDA libraries that torch was installed with, where they lie beside it."""
    library_folder: Path
    libraries: tuple[str, ...]
    """The ones that are there, as `-l` takes them."""


@cache
def find_torch() -> TorchFiles:
    """The torch that would be imported.

    Raises:
        MissingTool: there is none, or it came without headers.
    """
    spec = importlib.util.find_spec("torch")
    folders = None if spec is None else spec.submodule_search_locations
    if not folders:
        raise MissingTool("There is no torch. `pip install torch` provides it.")
    return read_torch(Path(next(iter(folders))))


def read_torch(folder: Path) -> TorchFiles:
    """The torch in a folder.

    Raises:
        MissingTool: it came without headers, or Python did.
    """
    include = folder / "include"
    if not (include / "ATen" / "core" / "Tensor.h").is_file():
        raise MissingTool(
            f"The torch in {folder} has no C++ headers, which bindings are compiled with. "
            "Install a wheel of torch."
        )
    python = Path(sysconfig.get_path("include"))
    if not (python / "Python.h").is_file():
        raise MissingTool(
            f"There is no Python.h in {python}, which bindings are compiled with. Install the headers of "
            "this Python (`apt install python3-dev`)."
        )
    described = (folder / "version.py").read_text("utf-8")
    version, cuda = _VERSION.search(described), _CUDA.search(described)
    builder = (folder / "utils" / "cpp_extension.py").read_text("utf-8")
    standards = [int(found) for found in _STANDARD.findall(builder)]
    return TorchFiles(
        version=version[1] if version else "unknown",
        cuda=(int(cuda[1]), int(cuda[2])) if cuda else None,
        standard=max((s for s in standards if s in (17, 20, 23)), default=17),
        include_folders=(
            include,
            include / "torch" / "csrc" / "api" / "include",
            python,
            *(() if cuda else (_HERE / "without_cuda",)),
        ),
        wheel_folders=tuple(sorted((folder.parent / "nvidia").glob("*/include"))) if cuda else (),
        library_folder=folder / "lib",
        libraries=tuple(
            name for name in _LIBRARIES if (folder / "lib" / f"lib{name}.so").is_file()
        ),
    )
