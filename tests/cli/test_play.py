"""One real episode, with its judgements; the others end before anything is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuda_gym.cli.main import main
from cuda_gym.episode_record import read_episodes

AGENT = """\
from cuda_gym.core.episode import Action


class Quitter:
    name = "quitter"

    def reset(self, observation):
        pass

    def act(self, observation):
        return Action('{"name": "submit", "arguments": {}}')
"""


@pytest.fixture
def quitter(tmp_path: Path) -> str:
    path = tmp_path / "quitter.py"
    path.write_text(AGENT)
    return f"{path}:Quitter"


def test_the_scripted_agent_plays_to_a_correct_verdict_and_its_files_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    typed = ["play", "--task", "core/row_sum", "--max-turns", "2", "--json", "--keep", str(kept)]
    code = main(typed)
    (episode,) = json.loads(capsys.readouterr().out)["episodes"]
    assert episode["verdict"]["outcome"] == "correct", episode["verdict"]["findings"]["summary"]
    assert code == 0
    assert episode["task_id"] == "core/row_sum"
    assert episode["total_reward"] == pytest.approx(episode["speedup"], abs=1e-6)
    assert episode["turns"][-1]["observation"]["stage"] == "settled"
    assert episode["workspace"] == str(kept)
    assert (kept / "kernels" / "row_sum.cu").is_file()


def test_each_turn_has_its_lines_and_each_episode_its_row(
    quitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "episodes.jsonl"
    typed = ["play", "--task", "core/row_sum", "--agent", quitter, "--episodes", "2"]
    assert main([*typed, "--record", str(record)]) == 1
    assert [len(episode.turns) for episode in read_episodes(record)] == [1, 1]
    said = capsys.readouterr().out
    assert said.count("quitter on core/row_sum") == 2
    assert said.count("submit()") == 2
    assert said.count("-  nothing was handed in") == 2
    assert "\x1b" not in said


def test_several_episodes_are_kept_in_folders_of_their_own(
    quitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    typed = ["play", "--task", "core/row_sum", "--agent", quitter, "--episodes", "2"]
    assert main([*typed, "--keep", str(kept), "--json"]) == 1
    episodes = json.loads(capsys.readouterr().out)["episodes"]
    assert [episode["workspace"] for episode in episodes] == [
        str(kept / f"episode-{number}") for number in (1, 2)
    ]
    assert all(Path(episode["workspace"], "model_new.py").is_file() for episode in episodes)


def test_a_folder_with_other_things_in_it_is_left_alone(
    quitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    typed = ["play", "--task", "core/row_sum", "--agent", quitter, "--keep", str(tmp_path)]
    assert main(typed) == 2
    assert "Give an empty folder" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_a_record_that_cannot_be_kept_is_told_before_anything_is_played(
    quitter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "no_such_folder" / "episodes.jsonl"
    assert (
        main(["play", "--task", "core/row_sum", "--agent", quitter, "--record", str(record)]) == 2
    )
    said = capsys.readouterr()
    assert "cannot be written: No such file or directory." in " ".join(said.err.split())
    assert "quitter on" not in said.out
