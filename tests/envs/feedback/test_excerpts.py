from __future__ import annotations

import pytest

from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.excerpts import excerpt, source_lines

LINES = ["int a;", "\tint b = c;", "", "int d;"]


@pytest.mark.parametrize(("line", "column"), [(2, 10), (1, 5), (4, 1), (2, 1)])
def test_a_caret_stands_under_its_column_whatever_tabs_are_before_it(
    line: int, column: int
) -> None:
    code, caret = excerpt(LINES, line, column).splitlines()
    wanted = LINES[line - 1][column - 1]
    assert code[caret.index("^")] == wanted.replace("\t", " ")


def test_a_caret_may_stand_behind_the_last_character() -> None:
    assert excerpt(["int a"], 1, 6).splitlines()[1].endswith(" " * 5 + "^")


def test_neighbours_are_shown_and_blank_ones_are_not() -> None:
    assert excerpt(LINES, 2, around=1).splitlines() == ["    1 | int a;", "    2 |     int b = c;"]


@pytest.mark.parametrize("line", [None, 0, -1, 5, 10**9])
def test_a_line_that_is_not_there_shows_nothing(line: int | None) -> None:
    assert excerpt(LINES, line, 1, around=1) == ""


def test_a_long_line_is_cut_around_its_caret() -> None:
    text = "x" * 300 + "!" + "y" * 300
    code, caret = excerpt([text], 1, 301).splitlines()
    assert code[caret.index("^")] == "!"
    assert len(code) < 140


def test_a_file_that_is_not_there_has_no_lines() -> None:
    assert source_lines(Submission.of({"a.cu": "x"}), "b.cu") == []
    assert source_lines(Submission.of({"a.cu": "x"}), None) == []
