from __future__ import annotations

import pytest

from cuda_gym.envs.feedback.printed import describe_printed


@pytest.mark.parametrize("output", ["", "\n", "  \n \n"])
def test_nothing_printed_says_nothing(output: str) -> None:
    assert describe_printed(output) == ""


def test_one_line_is_told_as_it_is() -> None:
    assert describe_printed("x = 3\n") == "It printed:\n  x = 3"


def test_equal_lines_are_counted() -> None:
    assert describe_printed("a\n" + "here\n" * 500 + "b\n").splitlines() == [
        "It printed 502 lines:",
        "  a",
        "  here  (x 500)",
        "  b",
    ]


def test_lines_that_differ_in_numbers_alone_are_one_with_the_last() -> None:
    printed = "".join(f"thread {i}: x = {i * 0.5:.3f}\n" for i in range(256))
    assert describe_printed(printed).splitlines() == [
        "It printed 256 lines:",
        "  thread 0: x = 0.000",
        "    ... 255 more like it, the last: thread 255: x = 127.500",
    ]


def test_head_and_tail_are_kept_and_what_is_cut_is_counted() -> None:
    words = [chr(97 + i % 26) * (3 + i % 7) + chr(97 + i // 26) for i in range(300)]
    lines = describe_printed("\n".join(words)).splitlines()
    assert lines[1] == f"  {words[0]}"
    assert lines[-1] == f"  {words[-1]}"
    (cut,) = [line for line in lines if "lines cut" in line]
    shown = len(lines) - 2
    assert cut == f"  [... {300 - shown} lines cut ...]"


@pytest.mark.parametrize("output", ["x" * 10**5, "x\n" * 10**4, "ab" * 200 + "\n" + "cd" * 10**4])
def test_it_is_short_whatever_was_printed(output: str) -> None:
    assert 0 < len(describe_printed(output)) < 700
