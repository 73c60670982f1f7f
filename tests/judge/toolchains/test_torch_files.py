from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.torch_files import find_torch, read_torch


def torch_in(folder: Path, *, version: str, cuda: str | None, standard: str) -> Path:
    for path, text in {
        "version.py": f"from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = {cuda!r}\n",
        "utils/cpp_extension.py": f"cflags = ['-fPIC', '-std={standard}']\n",
        "include/ATen/core/Tensor.h": "",
        "lib/libc10.so": "",
        "lib/libtorch_python.so": "",
        "../nvidia/cu13/include/cusparse.h": "",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_the_installed_torch_is_read_without_importing_it() -> None:
    found = find_torch()
    assert found.version == importlib.metadata.version("torch")
    assert (found.include_folders[0] / "ATen" / "ATen.h").is_file()
    assert {"c10", "torch_cpu", "torch_python"} <= set(found.libraries)


def test_what_a_torch_with_cuda_brings_is_found(tmp_path: Path) -> None:
    folder = torch_in(
        tmp_path / "torch", version="2.11.0+cu130", cuda="13.0", standard="c++17"
    ).resolve()
    found = read_torch(folder)
    assert (found.version, found.cuda, found.standard) == ("2.11.0+cu130", (13, 0), 17)
    assert found.libraries == ("c10", "torch_python")
    assert found.wheel_folders == (folder.parent / "nvidia" / "cu13" / "include",)
    assert not any("without_cuda" in str(path) for path in found.include_folders)


def test_a_torch_without_cuda_is_completed_so_that_sources_for_cuda_compile(tmp_path: Path) -> None:
    folder = torch_in(tmp_path / "torch", version="2.13.0+cpu", cuda=None, standard="c++20")
    found = read_torch(folder)
    assert (found.cuda, found.standard, found.wheel_folders) == (None, 20, ())
    assert (found.include_folders[-1] / "c10/cuda/impl/cuda_cmake_macros.h").is_file()


def test_a_torch_without_headers_is_named_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match="has no C\\+\\+ headers"):
        read_torch(tmp_path)
