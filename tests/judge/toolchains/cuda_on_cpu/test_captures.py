"""Lambdas in kernels may read the indices of the thread without capturing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.captures import capture_indices
from cuda_gym.judge.toolchains.cuda_source import Edits, Source


def captured(text: str) -> str:
    source = Source("k.cu", text)
    edits = Edits(source)
    capture_indices(source.masked, text.index("{") + 1, edits)
    return edits.apply().text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ auto f = [n](int k) { return k + threadIdx.x; }; }", "[n, threadIdx](int k)"),
        ("{ auto f = [] { return blockIdx.x * blockDim.x; }; }", "[blockIdx, blockDim] {"),
        ("{ return [](auto x) -> int { return x + gridDim.y; }(1); }", "[gridDim](auto x)"),
        ("{ f([]<class T>(T x) mutable { x += threadIdx.x; }); }", "[threadIdx]<class T>"),
        ("{ f([a] { g([b] { return threadIdx.x; }); }); }", "[a, threadIdx] { g([b, threadIdx] {"),
    ],
)
def test_an_index_that_a_lambda_reads_is_captured(text: str, expected: str) -> None:
    assert expected in captured(text)


@pytest.mark.parametrize(
    "text",
    [
        "{ auto f = [=](int k) { return k + threadIdx.x; }; }",
        "{ auto f = [&, n](int k) { return k + threadIdx.x; }; }",
        "{ auto f = [&x](int k) { x = k; }; y[threadIdx.x] = 1; }",
        "{ auto f = [threadIdx] { return threadIdx.x; }; }",
        "{ [[maybe_unused]] int a[2]; a[0] = 1; if (a[1]) { b[a[0]] = threadIdx.x; } }",
    ],
)
def test_nothing_is_added_where_nothing_is_missing(text: str) -> None:
    assert captured(text) == text


def test_such_a_kernel_runs(compile_source: Callable[[str], Any]) -> None:
    program = compile_source(
        "__global__ void k(int* x, int n) {\n"
        "  auto place = [n](int shift) { return (threadIdx.x + shift) % n; };\n"
        "  auto each = [](auto f) { f(blockIdx.x * blockDim.x + threadIdx.x); };\n"
        "  each([&](int i) { x[i] = place(3); });\n"
        "}\n"
        'extern "C" void run(int* x, int n) { k<<<2, n>>>(x, n); }\n'
    )
    x = np.zeros(20, np.int32)
    program("run", x, 10)
    assert x.tolist() == [(t + 3) % 10 for t in range(10)] * 2
