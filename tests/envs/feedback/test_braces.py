from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import SCALE_KERNEL

from cuda_gym.envs.feedback.braces import find_brace_trouble

KERNEL = """\
namespace ops {
struct Pair { float a, b; };
__device__ float add(Pair p) {
    return p.a + p.b;
}
}
__global__ void rows(float* out, int n) {
    for (int i = 0; i < n; ++i) {
        if (i > 3) {
            out[i] = '{';  // }
        } else {
            out[i] = 2;
        }
    }
}
extern "C" {
void run(float* out, int n) {
    rows<<<1, 1>>>(out, n);
}
}
"""


@pytest.mark.parametrize("text", [KERNEL, SCALE_KERNEL, "", "int a;"])
def test_what_is_in_order_is_left_alone(text: str) -> None:
    assert find_brace_trouble(text) is None


def without(line: int) -> str:
    lines = KERNEL.splitlines()
    lines[line - 1] = lines[line - 1].replace("}", " ").rstrip()
    return "\n".join(lines)


@pytest.mark.parametrize(("closing", "opening"), [(14, 8), (13, 11), (15, 7)], ids=str)
def test_a_missing_brace_is_told_by_the_line_that_opens_it(closing: int, opening: int) -> None:
    assert f"the '{{' of line {opening} is not closed" in (
        find_brace_trouble(without(closing)) or ""
    )


def test_a_brace_too_many_is_told_by_its_line() -> None:
    lines = KERNEL.splitlines()
    lines.insert(12, "        }")
    assert "one '}' too many" in (find_brace_trouble("\n".join(lines)) or "")
    assert "line 21 closes nothing" in (find_brace_trouble(KERNEL + "}\n") or "")


def test_a_brace_at_the_end_of_the_file_is_missed_there() -> None:
    assert find_brace_trouble("void f() {\n    g();\n") == "the '{' of line 1 is never closed"


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="{}()\"'/*\n \tab#", max_size=80))
def test_any_text_is_answered(text: str) -> None:
    assert isinstance(find_brace_trouble(text), str | None)
