"""Judges that share every folder, and folders whose files are broken, judge as if they were alone and whole."""

from __future__ import annotations

import concurrent.futures
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import QUICK, SCALE_KERNEL, SCALE_MODEL, submit
from tests.faults.alone import outcomes

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.toolchains.build_cache import BuildCache


@pytest.mark.slow
def test_two_judges_with_the_same_folders_are_both_right(
    cache_folder: Path, tmp_path: Path
) -> None:
    steps = ("build", "judge", "build", "judge")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        both = [threads.submit(outcomes, cache_folder, tmp_path, *steps) for _ in range(2)]
    assert [one.result() for one in both] == [["correct"] * 4] * 2


def _garble(path: Path) -> None:
    path.write_bytes(b"\0garbage")


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _replace(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "break_it",
    [
        _garble,
        pytest.param(_truncate, marks=pytest.mark.slow),
        pytest.param(_replace, marks=pytest.mark.slow),
    ],
)
def test_a_build_that_is_broken_is_built_again(
    break_it: Callable[[Path], None], judge: Judge, scale_task: Task, cache_folder: Path
) -> None:
    submission = submit(SCALE_MODEL, f"{SCALE_KERNEL}// {break_it.__name__}\n")
    build = judge.verify(scale_task, submission).build
    assert build is not None
    folder = Path(build.library).parent
    assert folder.parent == BuildCache(cache_folder).folder
    for path in list(folder.iterdir()):
        if path.name != Path(build.library).name:
            path.unlink()  # hard links to what other builds use
            path.write_bytes(b"x")
        break_it(path)
    again = judge.verify(scale_task, submission)
    assert again.outcome is Outcome.CORRECT, again.summary
    assert again.build is not None
    assert not again.build.cached


@pytest.mark.slow
@pytest.mark.parametrize("break_it", [_garble, _truncate, _replace])
def test_records_that_cannot_be_read_are_made_again(
    break_it: Callable[[Path], None],
    cache_folder: Path,
    tmp_path: Path,
    scale_task: Task,
    scale_submission: Submission,
) -> None:
    folder = tmp_path / "records"
    shutil.copytree(cache_folder, folder, ignore=shutil.ignore_patterns("builds", "inductor"))
    for path in folder.glob("*.json"):
        break_it(path)
    judge = Judge(Device("cpu"), JudgeConfig(timing=QUICK, folder=folder))
    try:
        verdict = judge.judge(scale_task, scale_submission)
    finally:
        judge.close()
    assert verdict.outcome is Outcome.CORRECT, verdict.summary
