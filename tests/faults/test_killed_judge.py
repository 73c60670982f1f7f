"""A judge that is killed leaves no process, no lock and no folder, and another one goes on with its files."""

from __future__ import annotations

import fcntl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.alone import judging_alone, kill_with_traces, outcomes, wait_until

from cuda_gym.judge.sandbox.limits import descendants


def _is_building(cache: Path, folder: Path, process: subprocess.Popen[str]) -> bool:
    return any((cache / "builds").glob(".work-*/*/k0.cu*"))


def _is_publishing(cache: Path, folder: Path, process: subprocess.Popen[str]) -> bool:
    return any((cache / "builds").glob(".work-*/entry"))


def _has_candidate(cache: Path, folder: Path, process: subprocess.Popen[str]) -> bool:
    return len(descendants(process.pid)) >= 4  # zygote, reference, warden, candidate


def _is_racing(cache: Path, folder: Path, process: subprocess.Popen[str]) -> bool:
    for lock in folder.glob("*/cpu.lock"):
        with lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


_Moment = Callable[[Path, Path, "subprocess.Popen[str]"], bool]
_MOMENTS: dict[str, tuple[str, _Moment]] = {
    "races, and holds the lock": ("slow", _is_racing),
    "runs draws": ("slow", _has_candidate),
    "compiles": ("build", _is_building),
    "writes to the cache": ("build", _is_publishing),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _MOMENTS)
def test_a_judge_can_be_killed_while_it(name: str, cache_folder: Path, tmp_path: Path) -> None:
    step, reached = _MOMENTS[name]
    with judging_alone(cache_folder, tmp_path, "verify", *[step] * 20) as (process, line):
        line("verify correct")
        line(f"{step} begins")
        wait_until(lambda: reached(cache_folder, tmp_path, process))
        kill_with_traces(process)
    assert outcomes(cache_folder, tmp_path, "build", "judge") == ["correct", "correct"]
    left = {path.name for path in tmp_path.iterdir() if not path.name.startswith("torchinductor_")}
    assert len(left) == 1, f"more than the folder of locks: {left}"
