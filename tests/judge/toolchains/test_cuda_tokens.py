from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_tokens import definitions, read_tokens


def texts(source: str) -> list[str]:
    return [token.text for token in read_tokens(source)]


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        ("a/* b */c//d\ne", ["a", "c", "e"]),
        ("a // continued \\\n b\nc", ["a", "c"]),
        ("1'000'000 + 'x'", ["1'000'000", "+", "'x'"]),
        (r'"a\"b" u8"c"', [r'"a\"b"', 'u8"c"']),
        ('R"x(a)" )x" b', ['R"x(a)" )x"', "b"]),
        ("a::b->c", ["a", "::", "b", "->", "c"]),
        ("a /* without end", ["a"]),
        ("\ufeff\u00e9", ["\ufeff", "\u00e9"]),
    ],
)
def test_text_is_split_as_the_compiler_splits_it(source: str, tokens: list[str]) -> None:
    assert texts(source) == tokens


def test_a_token_knows_its_line_whatever_stands_before_it() -> None:
    source = '/*\n*/ a\n#define X \\\n  1\nb R"(\n\n)" c\r\nX'
    assert [(t.text, t.line) for t in read_tokens(source) if t.text in "abc1"] == [
        ("a", 2),
        ("b", 5),
        ("c", 7),
        ("1", 8),
    ]


@pytest.mark.parametrize(
    ("condition", "branch"),
    [
        ("#if 0", "no"),
        ("#if 1", "yes"),
        ("#ifdef __cplusplus", "yes"),
        ("#ifdef UNKNOWN", "no"),
        ("#ifndef UNKNOWN", "yes"),
        ("#define A\n#if defined(A)", "yes"),
        ("#define A\n#undef A\n#if defined A", "no"),
        ("#if !defined(UNKNOWN)", "yes"),
        ("#if VERSION >= 12", "yes"),
        ("#if 0\n#if 1\nx\n#endif\n#elif 0\nx", "no"),
        ("#if 0\nx\n#elif 1", "yes"),
    ],
)
def test_one_branch_of_a_conditional_is_read(condition: str, branch: str) -> None:
    assert texts(f"{condition}\nyes\n#else\nno\n#endif\n") == [branch]


def test_macros_are_replaced_and_cannot_grow_without_end() -> None:
    assert texts("#define A a b\n#define B A c\n#define E\nB E; F(x)") == [
        "a",
        "b",
        "c",
        ";",
        *"F(x)",
    ]
    bomb = "#define A0 x x\n" + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(60))
    assert len(texts(bomb + "A60")) < 100


def test_definitions_are_found_in_every_namespace_and_know_it() -> None:
    source = """
    int variable = f(1); struct Point { int x; void move() { x = 1; } };
    namespace outer { inline namespace v1 { void one(int n) { if (n) { one(0); } } } void two() {} }
    namespace { extern "C" { void three() {} } }
    namespace a::b { void declared(); void four() {} } }
    extern "C" void five() {
    """
    names = [
        (definition.scopes, next(t.text for t in definition.head if t.text in NAMES))
        for definition in definitions(read_tokens(source))
    ]
    assert names == [
        ((), "Point"),
        (("outer", "v1"), "one"),
        (("outer",), "two"),
        ((), "three"),
        (("a", "b"), "four"),
        ((), "five"),
    ]


NAMES = frozenset({"Point", "one", "two", "three", "four", "five"})
