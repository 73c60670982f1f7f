from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core import Diagnostic, Severity, Submission
from cuda_gym.envs.feedback.hints import hint_for

SOURCE = """\
__global__ void one(float* out, int n) {
    int index = threadIdx.x;
    out[index] = n;
}
__global__ void two(float* out) {
    out[index] = helper(1.0f);
}
__device__ float helper(float x) { return x; }
"""
FILES = Submission.of({"kernels/k.cu": SOURCE, "kernels/tools.cuh": "", "model_new.py": ""})


def hint(message: str, line: int = 6, *, added: str | None = None, source: str = SOURCE) -> str:
    files = Submission.of({**dict(FILES.files), "kernels/k.cu": source})
    error = Diagnostic(
        severity=Severity.ERROR, message=message, file="kernels/k.cu", line=line, column=5
    )
    notes = [] if added is None else [Diagnostic(severity=Severity.NOTE, message=added)]
    return hint_for(error, notes, files) or ""


def unknown(name: str) -> str:
    return f"'{name}' was not declared in this scope"


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("__half", "cuda_fp16.h"),
        ("__float2half", "cuda_fp16.h"),
        ("half2", "cuda_fp16.h"),
        ("__nv_bfloat16", "cuda_bf16.h"),
        ("__float2bfloat16", "cuda_bf16.h"),
        ("FLT_MAX", "cfloat"),
        ("INT_MAX", "climits"),
        ("uint32_t", "cstdint"),
        ("cooperative_groups", "cooperative_groups.h"),
    ],
)
def test_the_header_of_a_name_is_told_unless_it_is_there(name: str, header: str) -> None:
    assert hint(unknown(name)) == f"#include <{header}>"
    assert header not in hint(unknown(name), source=f"#include <{header}>\n{SOURCE}")


def test_a_name_of_another_function_and_one_that_comes_later_are_told() -> None:
    assert hint(unknown("index")) == "the index of line 2 is in another block or function"
    assert "helper is defined below, at line 8" in hint(unknown("helper"))


@pytest.mark.parametrize(
    ("name", "spelt"), [("threadidx", "threadIdx"), ("_syncthreads", "__syncthreads")]
)
def test_a_name_of_cuda_is_told_in_its_spelling(name: str, spelt: str) -> None:
    assert hint(unknown(name)) == f"it is spelt {spelt}"


def test_the_headers_of_the_submission_are_listed() -> None:
    assert "there: kernels/tools.cuh" in hint("utils.cuh: No such file or directory")


def test_a_note_may_carry_what_the_hint_needs() -> None:
    said = hint(
        "no matching function for call to 'sum(float*)'",
        added="couldn't deduce template parameter 'N'",
    )
    assert said == "name N in the call: sum<...>(...)"


def test_what_is_not_known_has_no_hint() -> None:
    assert hint("something nobody has seen") == ""
    assert hint(unknown("never_heard_of")) == ""


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.integers(-3, 12))
def test_any_message_at_any_line_is_answered(message: str, line: int) -> None:
    for form in ("{}", "'{}' was not declared in this scope", "expected ';' before '{}'",
                 "no matching function for call to '{}('", "cannot convert '{}'",
                 "undefined reference to `{}'", "read-only location '{}'"):  # fmt: skip
        hint(form.format(message.replace("{", "").replace("}", "")), line)
