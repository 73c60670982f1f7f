from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.judge.toolchains.cuda_source import Edits, Source, closing

PIECES = st.lists(
    st.sampled_from(
        [
            '"',
            "'",
            "//",
            "/*",
            "*/",
            "\\",
            "\n",
            'R"x(',
            ')x"',
            "1'000",
            "0x1'f",
            "a",
            "é",
            "(",
            "{",
            "#",
            " ",
            "L'",
        ]
    ),
    max_size=30,
).map("".join)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a // b", "a     "),
        ("k << <1, 2 >> > (x)", "k  <<<1, 2 >>>  (x)"),
        ("k< <<1, 2>>  >(x)", "k <<<1, 2>>>  (x)"),
        (
            "a << b; vector<vector<pair<int, int>> > c;",
            "a << b; vector<vector<pair<int, int>> > c;",
        ),
        ("a /* b\nc */ d", "a     \n     d"),
        ("a // b \\\nc\nd", "a       \n \nd"),
        ('f("x // y") + 1', 'f("      ") + 1'),
        ('extern "C" int x;', 'extern " " int x;'),
        (r"'\'' + 'a'", "'  ' + ' '"),
        ("1'000'000 + 0xff'ff; g('x')", "1'000'000 + 0xff'ff; g(' ')"),
        ('R"(a " // b)" c', 'R"          " c'),
        ('R"ab(x)" )ab" c', 'R"          " c'),
        ("L'a' u8\"b\"", "L' ' u8\" \""),
        ('"open', '"   n'),
        ("1.5e-3f + .5", "1.5e-3f + .5"),
    ],
)
def test_comments_and_literals_are_blanked_in_place(text: str, masked: str) -> None:
    if text == '"open':
        assert len(Source("a.cu", text).masked) == len(text)
    else:
        assert Source("a.cu", text).masked == masked


@settings(max_examples=200, deadline=None)
@given(PIECES | st.text(max_size=60))
def test_masking_keeps_every_offset_and_every_line(text: str) -> None:
    masked = Source("a.cu", text).masked
    assert len(masked) == len(text)
    assert [i for i, c in enumerate(masked) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]
    assert all(m in (c, " ") for m, c in zip(masked, text, strict=True))


def test_brackets_are_matched_and_open_ones_end_with_the_text() -> None:
    assert closing("f((a)[b]) {", 1) == 8
    assert closing("f((a", 1) == 4


def test_lines_and_columns_count_from_one() -> None:
    source = Source("a.cu", "ab\ncd\n")
    assert (source.line(0), source.column(0)) == (1, 1)
    assert (source.line(4), source.column(4)) == (2, 2)
    assert (source.line(6), source.column(6)) == (3, 1)


def test_a_column_of_the_new_text_leads_back_to_the_old_one() -> None:
    source = Source("a.cu", "zero\nint f(int x) { return x; }\n")
    edits = Edits(source)
    edits.insert(source.text.index("int x"), "HIDDEN, ")
    edits.replace(source.text.index("return"), source.text.index(" x;"), "co_return")
    rewritten = edits.apply()
    line = rewritten.text.splitlines()[1]
    assert line == "int f(HIDDEN, int x) { co_return x; }"
    assert rewritten.original_column(2, line.index("int x") + 1) == 7
    assert rewritten.original_column(2, line.index("HIDDEN") + 1) == 7
    assert rewritten.original_column(2, line.index("x;") + 1) == 23
    assert rewritten.original_column(1, 3) == 3
    assert rewritten.original_column(99, 3) == 3


def test_columns_in_bytes_become_columns_in_characters() -> None:
    source = Source("a.cu", "/* é */ int x;")
    assert Edits(source).apply().original_column(1, 10) == 9


def test_a_replacement_keeps_the_lines_it_spans() -> None:
    source = Source("a.cu", "a\nb\nc")
    edits = Edits(source)
    edits.replace(0, 3, "x")
    assert edits.apply().text == "x\n\nc"
