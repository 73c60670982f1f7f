from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.judge.toolchains.cuda_declarations import Kind, declarations
from cuda_gym.judge.toolchains.cuda_source import Source

TEXT = """
#include <x.h>
#define TWICE(x) \\
  ((x) + (x))
namespace a { namespace b {
template <int N, class T = int> __global__ void __launch_bounds__(N) k(T* x) { if (x) { *x = N; } }
} }
extern "C" {
int launch(int n);
int launch(int n) { return TWICE(n); }
}
struct alignas(16) S { int f() { return 1; } int x; };
__device__ float table[] = {1.0f, 2.0f};
auto lambda = [](int x) { return x; };
template __global__ void k<4>(int*);
int Outer::member(int x) const { return x; }
"""


def test_each_declaration_has_its_kind_and_its_names() -> None:
    found = [(d.kind, set(d.names)) for d in declarations(Source("a.cu", TEXT))]
    assert found == [
        (Kind.MACRO, {"TWICE"}),
        (Kind.FUNCTION, {"k"}),
        (Kind.PROTOTYPE, {"launch"}),
        (Kind.FUNCTION, {"launch"}),
        (Kind.CLASS, {"S"}),
        (Kind.OTHER, {"table", "f"}),
        (Kind.OTHER, {"lambda", "x"}),
        (Kind.PROTOTYPE, {"k"}),
        (Kind.FUNCTION, {"Outer", "member"}),
    ]


def test_what_a_body_mentions_is_known() -> None:
    kernel = next(d for d in declarations(Source("a.cu", TEXT)) if d.is_kernel)
    assert {"x", "N"} <= kernel.mentions
    assert "launch" not in kernel.mentions
    assert "*x = N" in TEXT[kernel.body : kernel.end]


@pytest.mark.parametrize(
    "text", ["}", "{", "f(", "template <", "struct {", "= {", "#define", ";;;", "operator"]
)
def test_text_that_ends_too_early_is_no_trouble(text: str) -> None:
    list(declarations(Source("a.cu", text)))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="{}()<>;:=#\n \\aT\"'", max_size=60))
def test_declarations_never_overlap_whatever_the_text(text: str) -> None:
    found = [d for d in declarations(Source("a.cu", text)) if d.kind is not Kind.MACRO]
    assert all(0 <= d.start <= d.end <= len(text) for d in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
