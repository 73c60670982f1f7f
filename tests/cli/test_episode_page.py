from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.test_episode_record import episode

from cuda_gym.cli.episode_page import episode_page
from cuda_gym.core.episode import Action, Episode, Observation, Stage, Turn
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.episode_record import read_episodes

EPISODES = Path(__file__).parents[2] / "docs" / "episodes"
RECORDS = sorted((EPISODES / "records").glob("*.jsonl"))


def played(*actions: str, answer: str = "Done.") -> Episode:
    turns = [
        Turn(
            action=Action(text),
            observation=Observation(text=answer, stage=Stage.EDITED),
            reward=0.25,
        )
        for text in actions
    ]
    return replace(episode(), turns=tuple(turns))


def test_every_turn_has_what_was_said_written_called_answered_and_paid() -> None:
    page = episode_page(
        played(
            "I begin.\n" + format_action({"kernels/a.cu": "int a;\nint b;\n"}, ToolCall("compile")),
            "Better.\n" + format_action({"kernels/a.cu": "int a;\nint c;\n"}),
            format_action(
                call=ToolCall(
                    "edit_file", {"path": "kernels/a.cu", "old": "int c;", "new": "int d;"}
                )
            ),
            '{"name": "submit"}',
            "what now?",
        )
    )
    turns = re.split(r"\n## ", page)[2:7]
    assert turns[0].startswith("Turn 1: write kernels/a.cu, compile\n\nI begin.\n")
    assert "```cuda\nint a;\nint b;\n```\n\n```python\ncompile()\n```" in turns[0]
    assert "*Answer: edited, reward +0.250*\n\n```text\nDone.\n```" in turns[0]
    assert "Better.\n\n`kernels/a.cu` changes:" in turns[1]
    assert "\n int a;\n-int b;\n+int c;\n```" in turns[1]
    assert "\n int a;\n-int c;\n+int d;\n```" in turns[2]
    assert turns[3].startswith("Turn 4: submit\n\n```python\nsubmit()\n```")
    assert turns[4].startswith("Turn 5: nothing that can be read\n\n```text\nwhat now?\n```")


def test_the_page_ends_with_the_verdict_and_begins_with_it_in_one_sentence() -> None:
    page = episode_page(episode())
    assert (
        "Task `core/softmax`, agent `scripted`, device `cpu`: 2 turns, correct, "
        "2.00x torch.compile, 4.000 paid."
    ) in page
    assert "| speed-up over torch.compile | 2.00x, 95 % interval 1.90 to 2.10 |" in page
    assert "| hidden draws | 1 of 1 passed |" in page
    void = episode_page(replace(episode(), verdict=None, void="no power"))
    assert void.endswith("## The Verdict\n\nThe episode is void: no power\n")


def test_an_answer_with_fences_of_its_own_stays_one_block() -> None:
    page = episode_page(played('{"name": "compile"}', answer="````\n```cuda\n"))
    assert "`````text\n````\n```cuda\n`````" in page


def test_a_long_text_that_was_only_read_is_folded_away() -> None:
    skill = "# Reductions\n" + "line\n" * 40
    page = episode_page(played('{"name": "read_skill"}', answer=skill))
    assert '<details markdown="1"><summary>Reductions (213 characters)</summary>' in page
    short = episode_page(played('{"name": "read_skill"}', answer=skill), with_reading=False)
    assert "\n\nReductions (213 characters)\n\n" in short
    assert "line" not in short


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_the_pages_of_the_documentation_are_made_from_their_records(record: Path) -> None:
    (episode,) = read_episodes(record)
    page = (EPISODES / f"{record.stem}.md").read_text("utf-8")
    title = page.split("\n", 1)[0].removeprefix("# ")
    assert page == episode_page(episode, title=title)
    assert page.count("\n## Turn ") == len(episode.turns)
