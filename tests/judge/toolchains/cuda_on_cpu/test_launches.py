from __future__ import annotations

import re

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

KERNEL = "template <class T> __global__ void k(T* x) { *x = 1; }\n"


def launch(text: str) -> str:
    """The line with the launch."""
    return rewrite({"k.cu": f"{KERNEL}void f() {{ {text} }}"}).files["k.cu"].text.splitlines()[1]


@pytest.mark.parametrize(
    ("text", "callee"),
    [
        ("k<<<1, 2>>>(x);", "k"),
        ("ns::k<int, N + 1><<<1, 2>>>(x);", "ns::k<int, N + 1>"),
        ("k<(a > b)><<<1, 2>>>(x);", "k<(a > b)>"),
        ("k<A<B<int>>><<<1, 2>>>(x);", "k<A<B<int>>>"),
        ("return k<<<1, 2>>>(x);", "k"),
        ("if (a) k<<<1, 2>>>(x);", "k"),
    ],
)
def test_a_kernel_is_called_by_its_name_and_takes_its_thread_along(text: str, callee: str) -> None:
    assert f"{{ {callee}(cuda_on_cpu_thread, cuda_on_cpu_arguments...); }}" in launch(text)


@pytest.mark.parametrize(
    "pointer",
    ["table[i]", "a.b", "a->b[2].c", "(*f)", "get(1, 2)", "(get)(x)", "(a ? b : c)", "this->f"],
)
@pytest.mark.parametrize("before", ["", "if (a) ", "else ", "x = 1, "])
def test_an_expression_is_read_once_and_called_as_it_is(before: str, pointer: str) -> None:
    text = launch(f"{before}{pointer}<<<1, 2>>>(x);")
    assert f"cuda_on_cpu_kernel = {pointer}]" in text
    assert "{ cuda_on_cpu_kernel(cuda_on_cpu_arguments...); }" in text
    assert f"{before}::cuda_on_cpu::launch<" in text


def test_of_a_name_that_nobody_knows_both_calls_are_offered() -> None:
    text = launch("unknown<int><<<1, 2>>>(x);")
    assert "launch_either<" in text
    assert "unknown<int>(cuda_on_cpu_thread, cuda_on_cpu_arguments...)" in text
    assert "unknown<int>(cuda_on_cpu_arguments...)" in text


@pytest.mark.parametrize(
    ("arguments", "call", "passed"),
    [
        ("{1, 2}", "k(cuda_on_cpu_thread, {1, 2})", ""),
        ("x, {1, {2}}", "k(cuda_on_cpu_thread, cuda_on_cpu_argument_0, {1, {2}})", "x"),
        ("{}, x", "k(cuda_on_cpu_thread, {}, cuda_on_cpu_argument_1)", "x"),
        ("f(1, 2), {3}, g<a, b>(4)", "k(cuda_on_cpu_thread, cuda_on_cpu_argument_0, {3}, cuda_on_cpu_argument_2)", "f(1, 2), g<a, b>(4)"),
        ("a < b, {1}, c > d", "k(cuda_on_cpu_thread, cuda_on_cpu_argument_0, {1}, cuda_on_cpu_argument_2)", "a < b, c > d"),
    ],
)  # fmt: skip
def test_braced_arguments_go_into_the_call(arguments: str, call: str, passed: str) -> None:
    text = launch(f"k<<<{{1, 2}}, {{3}}>>>({arguments});")
    assert "Configuration({1, 2}, {3})" in text
    assert call in text
    behind = re.sub(r"\s+", " ", text.rpartition("; }")[0].rpartition("}")[2]).strip(" ,")
    assert behind.rstrip(")") == passed.rstrip(")")


def test_braced_arguments_over_many_lines_keep_them() -> None:
    text = "void f() {\n  k<<<1, 1>>>(a,\n    {1,\n     2},\n    b);\n}\nMARK"
    lines = rewrite({"k.cu": text}).files["k.cu"].text.splitlines()
    assert lines[6] == "MARK"
    assert lines[4].strip().endswith("b);")
