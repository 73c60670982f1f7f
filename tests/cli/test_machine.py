from __future__ import annotations

from pathlib import Path

import pytest

from cuda_gym.cli.machine import machine_checks
from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.probes import Check, CheckState

CPU = Device.parse("cpu")


def checks() -> dict[str, Check]:
    return {check.what: check for check in machine_checks(CPU)}


def test_every_row_has_a_fact_and_what_an_episode_lacks_has_a_remedy() -> None:
    found = checks()
    assert {
        "python",
        "torch",
        "processor",
        "compiler for cpu",
        "nvcc",
        "NVIDIA driver",
        "cache",
    } <= set(found)
    for check in found.values():
        assert check.fact
        if check.is_needed and check.state is not CheckState.OK:
            assert check.remedy


def test_without_a_compiler_the_exact_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_GYM_CXX", str(tmp_path / "no-such-compiler"))
    compiler = checks()["compiler for cpu"]
    assert compiler.state is CheckState.MISSING
    assert compiler.is_needed
    assert "no-such-compiler" in compiler.fact
    assert "unset it" in compiler.remedy


def test_without_gpp_there_is_no_baseline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    baseline = checks()["torch.compile"]
    assert baseline.state is CheckState.MISSING
    assert "g++" in baseline.fact
    assert "apt install g++" in baseline.remedy


def test_for_a_gpu_there_is_no_baseline_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {check.what: check for check in machine_checks(Device.parse("cuda:0"))}
    baseline = found["torch.compile"]
    if baseline.state is CheckState.OK:
        pytest.skip("Triton is installed")
    assert "Triton" in baseline.fact
    assert "pip install triton" in baseline.remedy


def test_the_cache_is_measured_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "builds").mkdir()
    (tmp_path / "builds" / "library").write_bytes(bytes(3 << 20))
    monkeypatch.setenv("CUDA_GYM_CACHE", str(tmp_path))
    cache = checks()["cache"]
    assert str(tmp_path) in cache.fact
    assert "3 MiB" in cache.fact


def test_a_cache_that_is_not_there_yet_is_fine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_GYM_CACHE", str(tmp_path / "deep" / "cache"))
    assert checks()["cache"].state is CheckState.OK
    assert not (tmp_path / "deep").exists()
