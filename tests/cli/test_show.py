from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.test_episode_record import episode

from cuda_gym.cli.main import main
from cuda_gym.episode_record import append_episode


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "episodes.jsonl"
    append_episode(path, episode())
    return str(path)


def test_a_recorded_episode_is_shown_as_a_page(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", record, "--markdown", "--title", "A good game"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# A good game\n")
    assert page.count("\n## Turn ") == 2
    assert main(["show", record]) == 0
    assert "Turn 2: profile" in capsys.readouterr().out


def test_json_gives_the_episode_and_nothing_else(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", record, "--json", "--markdown"]) == 0
    assert json.loads(capsys.readouterr().out)["task_id"] == "core/softmax"


@pytest.mark.parametrize("typed", [["no_such_file"], ["--episode", "2"], ["--episode", "0"]])
def test_what_is_not_there_is_a_mistake_in_what_was_typed(
    record: str, typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *([] if typed[0] == "no_such_file" else [record]), *typed]) == 2
    assert "error: " in capsys.readouterr().err
