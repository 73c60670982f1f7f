"""The steps of the story that `worked_example` tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.worked_example import FOLDER, HEADER, PAGE, RESULTS, STEPS, submission
from tests.skills.examples import example

from cuda_gym.core.findings import Outcome
from cuda_gym.judge.judge import Judge
from cuda_gym.tasks.registry import load_task


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
def test_every_step_is_right(number: int, judge: Judge) -> None:
    findings = judge.verify(load_task("core/rmsnorm_residual"), submission(number))
    assert findings.outcome is Outcome.CORRECT, findings.summary


def test_the_page_shows_the_files_of_step_four() -> None:
    shown = example("worked_example")
    assert shown is not None
    assert shown.files == submission(4).files
    assert len(list(FOLDER.glob("*.cu"))) == len(STEPS)


def test_the_page_has_the_measured_table() -> None:
    table = HEADER + RESULTS.read_text("utf-8").partition(HEADER)[2]
    assert len(table.splitlines()) == 2 + len(STEPS)
    assert table in PAGE.read_text("utf-8")


def test_each_of_the_four_steps_gained_something() -> None:
    rows = Path(RESULTS).read_text("utf-8").partition(HEADER)[2].splitlines()
    speedups = [float(row.split("|")[4]) for row in rows]
    assert speedups[:4] == sorted(speedups[:4])
    assert speedups[4] < speedups[3]
