"""Tools of NVIDIA are found where people have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.judge.profiling.nvidia_tools import find_tool


@pytest.fixture(autouse=True)
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "site"))


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_one_on_the_path_comes_first(tmp_path: Path) -> None:
    program(tmp_path / "cuda" / "bin" / "ncu")
    mine = program(tmp_path / "bin" / "ncu")
    assert find_tool("ncu", usual=(tmp_path / "cuda",)) == mine


def test_a_variable_comes_before_the_usual_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "cuda" / "bin" / "ncu")
    other = program(tmp_path / "other" / "bin" / "ncu")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "other"))
    assert find_tool("ncu", usual=(tmp_path / "cuda",)) == other


@pytest.mark.parametrize("folder", ["cu13/bin", "cuda_sanitizer_api/bin"])
def test_a_wheel_will_do(tmp_path: Path, folder: str) -> None:
    wheel = program(tmp_path / "site" / "nvidia" / folder / "compute-sanitizer")
    assert find_tool("compute-sanitizer", usual=()) == wheel


def test_a_newer_version_beside_a_toolkit_is_taken(tmp_path: Path) -> None:
    program(tmp_path / "cuda" / "nsight-compute-2024.1" / "ncu")
    newer = program(tmp_path / "cuda" / "nsight-compute-2025.3" / "ncu")
    assert find_tool("ncu", beside=("nsight-compute*",), usual=(tmp_path / "cuda",)) == newer


def test_without_any_there_is_none() -> None:
    assert find_tool("ncu", usual=()) is None
