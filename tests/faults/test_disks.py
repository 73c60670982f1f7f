"""A disk that is full or may only be read voids what needs to write, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.alone import outcomes
from tests.faults.mounts import can_mount

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_mount(), reason="this user may not mount a disk"),
]


def test_on_a_full_disk_what_was_built_is_judged_and_what_is_new_is_void(tmp_path: Path) -> None:
    steps = ("mount", "judge", "fill", "build", "judge", "free", "build")
    expected = ["correct", "machine_error", "correct", "correct"]
    assert outcomes(tmp_path / "cache", tmp_path, *steps) == expected


def test_on_a_disk_that_may_only_be_read_what_was_built_is_judged(tmp_path: Path) -> None:
    steps = ("mount", "judge", "read-only", "judge", "build", "writable", "build")
    expected = ["correct", "correct", "machine_error", "correct"]
    assert outcomes(tmp_path / "cache", tmp_path, *steps) == expected


def test_a_judge_that_begins_on_a_full_disk_goes_on_as_soon_as_there_is_room(
    tmp_path: Path,
) -> None:
    steps = ("mount", "verify", "fill", "judge", "free", "judge")
    first, full, *others = outcomes(tmp_path / "cache", tmp_path, *steps)
    assert (first, others) == ("correct", ["correct"])
    assert full in ("machine_error", "correct")
