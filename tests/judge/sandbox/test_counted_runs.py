"""Why there are no counters is told, whatever stands in the way; a script plays Nsight Compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import Profile
from cuda_gym.judge.profiling.counters import AS_ADMIN, METRICS
from cuda_gym.judge.sandbox.counted_runs import CountedRuns
from cuda_gym.judge.sandbox.deadlines import Deadlines
from cuda_gym.judge.sandbox.device_lock import DeviceLock

BUILD = Build(key="k", library="/l.so", toolchain="nvcc", build_s=0.0, cached=False)
NOBODY: Any = None
"""No reference: nothing here comes so far."""


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but what lies in this folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(AS_ADMIN, "1")  # whatever the driver of this machine says
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def why(device: str, task: Task) -> str:
    where = Device.parse(device)
    runs = CountedRuns(where, DeviceLock(where), deadlines=Deadlines(), num_threads=1)
    submission = submit(SCALE_MODEL, SCALE_KERNEL)
    profile = runs.add_to(Profile(call_us=3.0), task, submission, NOBODY, BUILD)
    assert profile.counters == ()
    assert profile.call_us == 3.0
    return profile.no_counters


def script(folder: Path, text: str) -> None:
    (folder / "ncu").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "ncu").chmod(0o755)


@pytest.mark.usefixtures("bin_folder")
def test_the_cpu_has_none(scale_task: Task) -> None:
    assert why("cpu", scale_task) == "The device cpu offers no counters"


def test_what_the_tool_says_before_it_starts_anything_is_explained(
    bin_folder: Path, scale_task: Task
) -> None:
    script(bin_folder, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'; exit 1")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in why("cuda:0", scale_task)


def test_a_metric_that_is_not_known_is_left_out_the_second_time(
    bin_folder: Path, scale_task: Task
) -> None:
    script(
        bin_folder,
        f"case \"$*\" in *{METRICS[5]}*) echo '==ERROR== Failed to find metric {METRICS[5]}';;\n"
        "*) echo '==ERROR== The second time.';; esac\nexit 1",
    )
    assert "The second time" in why("cuda:0", scale_task)
