from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.envs.brevity import cut, fold, shorten_repeated

_FOLDED = re.compile(r"\[the (?:line|(\d+) lines) above ([\d,]+) times more\]")
_CUT = re.compile(r"\n\[\.\.\. (?:([\d,]+) lines?, )?([\d,]+) characters cut \.\.\.\]\n")

lines = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=60)
texts = st.lists(lines, max_size=60).map("\n".join)
runs = st.lists(st.tuples(st.lists(lines, min_size=1, max_size=4), st.integers(1, 40)), max_size=8)


def _unfolded(text: str) -> str:
    """What was folded, written out again."""
    told: list[str] = []
    for line in text.split("\n"):
        if (match := _FOLDED.fullmatch(line)) is None:
            told.append(line)
        else:
            told += told[-int(match[1] or 1) :] * int(match[2].replace(",", ""))
    return "\n".join(told)


@settings(max_examples=100, deadline=None)
@given(runs)
def test_a_folded_text_is_never_longer_and_says_all_that_the_text_said(
    groups: list[tuple[list[str], int]],
) -> None:
    text = "\n".join(line for group, count in groups for line in group * count)
    assert len(fold(text)) <= len(text)
    assert _unfolded(fold(text)) == text


def test_a_group_of_lines_that_repeats_is_told_once() -> None:
    text = "in kernel a:\n  thread 7 reads x[4096]\n" * 300 + "done"
    assert fold(text) == (
        "in kernel a:\n  thread 7 reads x[4096]\n[the 2 lines above 299 times more]\ndone"
    )


def test_a_short_run_stays_as_it_is() -> None:
    source = "void f() {\n    a();\n    a();\n    a();\n    a();\n}\n\n\n\n\n"
    assert fold(source) == source


@settings(max_examples=200, deadline=None)
@given(texts | st.text(max_size=2000), st.integers(200, 1000))
def test_a_cut_text_keeps_head_and_tail_and_counts_what_is_gone(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    if len(text) <= limit:
        assert short == text
        return
    place = next(m for m in _CUT.finditer(short) if _is_the_cut(text, short, m))
    assert min(place.start(), len(short) - place.end()) >= (limit - 60) // 4 - 2


def _is_the_cut(text: str, short: str, place: re.Match[str]) -> bool:
    """Whether head, as many characters as are said to be gone, and tail make up the text."""
    head, tail = short[: place.start()], short[place.end() :]
    missing = text[len(head) : len(text) - len(tail)]
    num_lines = missing.removeprefix("\n").removesuffix("\n").count("\n") + 1
    said = (None if place[1] is None else int(place[1].replace(",", ""))) or 1
    return (
        text.startswith(head)
        and text.endswith(tail)
        and len(missing) == int(place[2].replace(",", ""))
        and said == num_lines
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(lines, min_size=30, max_size=60), st.integers(400, 600))
def test_lines_of_ordinary_length_are_cut_at_their_ends(parts: list[str], limit: int) -> None:
    numbered = [f"{number:03}:{part}" for number, part in enumerate(parts)]
    shown = cut("\n".join(numbered), limit).split("\n")
    assert [line for line in shown if line not in numbered and "cut ...]" not in line] == []


def test_an_answer_that_was_given_two_turns_ago_is_told_in_short() -> None:
    answer = (
        "2 errors.\n" + "".join(f"a.cu:{n}: error: no such name\n" for n in range(60)) + "Next: x"
    )
    told = shorten_repeated(answer, ["Wrote a.cu.\n" + answer + "\n\nTurns left: 9.", "Nothing."])
    first, second, *_, last = told.split("\n")
    assert (first, second) == ("The same answer as 2 turns ago, word for word:", "2 errors.")
    assert last == "Next: x"
    assert len(told) < 900 < len(answer)
    assert shorten_repeated(answer, ["Something else.", "Nothing."]) == answer


def test_a_short_answer_is_told_again_in_full() -> None:
    assert shorten_repeated("It compiles.", ["It compiles."]) == "It compiles."
