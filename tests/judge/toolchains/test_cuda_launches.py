from __future__ import annotations

import pytest

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_launches import launches_in
from cuda_gym.judge.toolchains.cuda_source import Source


def parts(text: str) -> list[tuple[str, str, str]]:
    """Callee, configuration and arguments of each launch."""
    return [
        (
            text[slice(*launch.callee)],
            text[slice(*launch.configuration)],
            text[slice(*launch.arguments)],
        )
        for launch in launches_in(Source("kernels/a.cu", text))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f() { k<<<1, 2>>>(x); }", ("k", "1, 2", "x")),
        ("return ns::k<int, N + 1><<<g, b, 0, s>>>(x, y);", ("ns::k<int, N + 1>", "g, b, 0, s", "x, y")),
        ("table[i]<<<dim3(1, 2), 3>>>();", ("table[i]", "dim3(1, 2), 3", "")),
        ("if (a) pick(b)<<<1, 2>>>(f(x), {1, 2});", ("pick(b)", "1, 2", "f(x), {1, 2}")),
    ],
)  # fmt: skip
def test_a_launch_has_a_callee_a_configuration_and_arguments(
    text: str, expected: tuple[str, str, str]
) -> None:
    assert parts(text) == [expected]


def test_launches_in_comments_and_literals_are_none() -> None:
    assert parts('// k<<<1, 2>>>(x)\nconst char* s = "k<<<1, 2>>>(x)";') == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("void f() { k<<<1, 2; }", "<<< without >>>"),
        ("void f() { k<<<1, 2>>>; }", "without its list of arguments"),
        ("void f() { <<<1, 2>>>(x); }", "no name of a kernel"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_place(text: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        parts(text)
    (diagnostic,) = caught.value.diagnostics
    assert reason in diagnostic.message
    assert (diagnostic.file, diagnostic.line) == ("kernels/a.cu", 1)
