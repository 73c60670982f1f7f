from __future__ import annotations

import json
import time

import pytest
from rich.text import Text

from cuda_gym.cli.screen import Screen


def test_where_no_terminal_is_nothing_but_text_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen()
    screen.show(Text("a result", "bold red"))
    screen.fail("no compiler", kind="MissingTool", code=3)
    said = capsys.readouterr()
    assert said.out == "a result\n"
    assert said.err == "error: no compiler\n"


def test_waiting_is_silent_at_first_and_then_a_plain_line_on_the_other_stream(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen()
    with screen.waiting("compiling"):
        pass
    with screen.waiting("racing", why_long="It takes a while."):
        time.sleep(1.3)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "racing ... It takes a while.\n"


def test_with_json_the_document_is_all_that_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(is_json=True)
    screen.show("a table")
    screen.show_line(Text("a path"))
    screen.give({"é": 1.5})
    assert json.loads(capsys.readouterr().out) == {"é": 1.5}


def test_a_long_path_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/folder" * 40
    Screen().show_line(Text(path))
    assert capsys.readouterr().out == f"{path}\n"
