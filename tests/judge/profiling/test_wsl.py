"""On WSL the driver lies elsewhere, hands out no memory, and lets Windows decide who may count."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fake_driver import build_driver, driver

from cuda_gym.core.device import Device
from cuda_gym.judge.device_facts import facts_of
from cuda_gym.judge.profiling import counters
from cuda_gym.judge.profiling.counters import why_no_counters


def test_the_driver_is_found_where_wsl_keeps_it(tmp_path: Path) -> None:
    build_driver(tmp_path)
    program = (
        "from cuda_gym.judge.profiling import driver_query as query\n"
        "by_name, at_its_place = query._LIBRARIES\n"
        "assert at_its_place == '/usr/lib/wsl/lib/libcuda.so.1'\n"
        f"query._LIBRARIES = ('libcuda.so.none', {str(tmp_path / 'libcuda.so.1')!r})\n"
        "query.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    [gpu] = json.loads(done.stdout)["gpus"]
    assert gpu["name"] == "NVIDIA H200"


def test_tensors_are_copied_there_and_the_fingerprint_says_so(tmp_path: Path) -> None:
    with driver(tmp_path, FAKE_NAME="NVIDIA GeForce RTX 4090", FAKE_EXPORT="0"):
        assert facts_of(Device.parse("cuda")).transport == "copies through sealed memfd"


def test_without_counters_the_control_panel_of_windows_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tmp_path / "osrelease"
    release.write_text("5.15.153.1-microsoft-standard-WSL2\n")
    monkeypatch.setattr(counters, "_RELEASE", release)
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path / "site"))
    assert "NVIDIA control panel" in why_no_counters(usual=())
    release.write_text("6.8.0-45-generic\n")
    assert "NVIDIA control panel" not in why_no_counters(usual=())
