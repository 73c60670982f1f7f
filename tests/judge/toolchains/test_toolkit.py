from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.toolkit import find_nvcc

SAYS = "Cuda compilation tools, release 12.9, V12.9.41"


@pytest.fixture(autouse=True)
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any toolkit."""
    for variable in ("CUDA_GYM_NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "site"))


def _nvcc(path: Path, says: str = SAYS) -> Path:
    """A program that answers as nvcc does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_the_one_on_the_path_is_taken(tmp_path: Path) -> None:
    nvcc = _nvcc(tmp_path / "bin" / "nvcc")
    found = find_nvcc()
    assert found.command[0] == str(nvcc)
    assert found.version == "nvcc 12.9.41"


def test_a_variable_names_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _nvcc(tmp_path / "bin" / "nvcc")
    monkeypatch.setenv("CUDA_GYM_NVCC", str(_nvcc(tmp_path / "mine", "release 13.1, V13.1.5")))
    assert find_nvcc().version == "nvcc 13.1.5"


def test_a_variable_that_names_no_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_GYM_NVCC", "nvc")
    with pytest.raises(MissingTool, match="CUDA_GYM_NVCC names 'nvc', which is no program"):
        find_nvcc()


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
def test_the_folder_of_a_toolkit_will_do(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = _nvcc(tmp_path / "cuda" / "bin" / "nvcc")
    monkeypatch.setenv(variable, str(tmp_path / "cuda"))
    assert find_nvcc().command[0] == str(nvcc)


def test_wheels_of_cuda_13_are_found_with_their_libraries(tmp_path: Path) -> None:
    toolkit = tmp_path / "site" / "nvidia" / "cu13"
    nvcc = _nvcc(toolkit / "bin" / "nvcc")
    (toolkit / "lib").mkdir()
    (toolkit / "lib" / "libcudart.so.13").touch()
    assert find_nvcc(usual=tmp_path).command == (str(nvcc), "-L", str(toolkit / "lib"))


def test_wheels_of_cuda_12_are_found_with_their_headers(tmp_path: Path) -> None:
    packages = tmp_path / "site" / "nvidia"
    nvcc = _nvcc(packages / "cuda_nvcc" / "bin" / "nvcc")
    include, lib = packages / "cuda_runtime" / "include", packages / "cuda_runtime" / "lib"
    include.mkdir(parents=True)
    lib.mkdir()
    (lib / "libcudart.so.12").touch()
    assert find_nvcc(usual=tmp_path).command == (str(nvcc), "-I", str(include), "-L", str(lib))


def test_without_any_the_remedy_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match=r"no nvcc\. Install .* or `pip install nvidia-cuda-nvcc"):
        find_nvcc(usual=tmp_path)


def test_one_that_does_not_run_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "nvcc"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert shutil.which("nvcc") == str(broken)
    with pytest.raises(MissingTool, match=r"nvcc does not run: .*exit status 3"):
        find_nvcc()
