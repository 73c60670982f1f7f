from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuda_gym.cli.main import main


def test_a_folder_without_a_model_gets_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "core/row_sum", str(tmp_path), "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["outcome"] == "compile_error"
    assert verdict["timing"] is None
    assert "no model_new.py" in verdict["findings"]["summary"]


def test_a_verdict_that_is_not_correct_shows_the_fact_and_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model_new.py").write_text("class ModelNew(:\n")
    assert main(["judge", "core/row_sum", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert told.startswith("compile_error")
    assert "model_new.py" in told
    assert "\x1b" not in told


def test_a_submission_with_a_link_is_never_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model_new.py").symlink_to("/etc/hostname")
    assert main(["judge", "core/row_sum", str(tmp_path), "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["kind"] == "WorkspaceError"
    assert "link" in error["message"]
