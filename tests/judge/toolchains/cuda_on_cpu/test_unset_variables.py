"""Which variables have no value where they are declared, and what the checking build puts there."""

from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.unset_variables import unset_variables, with_values
from cuda_gym.judge.toolchains.cuda_source import Source


def names(text: str) -> list[str]:
    return [variable.name for variable in unset_variables(Source("k.cu", text))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float best;", ["best"]),
        ("float a, b = 0.0f, c[4][2];", ["a", "c"]),
        ("unsigned long long n; float4 v;", ["n", "v"]),
        ("for (int i = 0; i < 3; ++i) { double d; }", ["d"]),
        ("float a = 1.0f; int b(3); float c = f(1, 2);", []),
        ("__shared__ float a; static float b; extern __shared__ float c[];", []),
        ("struct Pair { float a; int b; } p; union { int i; float f; } u;", []),
        ("switch (n) { case 1: float y; y = 1; }", []),
        ("return; float* p; T t; bool b;", []),
        ("// float best;\n", []),
    ],
)
def test_numbers_without_a_value_are_found(body: str, expected: list[str]) -> None:
    assert names(f"__global__ void k(float* x, int n) {{ {body} }}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__device__ float f(float x) { float r; r = x; return r; }", ["r"]),
        ("template <int N> __global__ void k(float* x) { float r; x[N] = r; }", ["r"]),
        ("float f(float x) { float r; r = x; return r; }", []),
        ("constexpr __device__ int f(int x) { int r; r = x; return r; }", []),
        ("__device__ float r; struct S { float r; };", []),
        ("#define K __global__ void k() { float r; }\n", []),
    ],
)
def test_only_functions_of_the_device_have_any(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_each_is_filled_on_its_own_line() -> None:
    text = (
        "__global__ void k(float* x) {\n    int i;\n    float a,\n        b[2];\n    x[0] = a;\n}\n"
    )
    filled = with_values(Source("k.cu", text)).text
    assert [line.strip() for line in filled.splitlines()] == [
        "__global__ void k(float* x) {",
        "int i; __builtin_memset((void*)&i, 127, sizeof i);",
        "float a,",
        "b[2]; __builtin_memset((void*)&a, 127, sizeof a); __builtin_memset((void*)&b, 127, sizeof b);",
        "x[0] = a;",
        "}",
    ]
