from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
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


NVCC = """\
#include <cuda_runtime.h>
__device__ float scale(float x, float factor) { return x * factor; }
template <int WIDTH> __device__ float sum_of(const float* x) { return x[0]; }
__global__ void rows(float* out, const float* x, int n) {
    float4 v = make_float4(0, 1, 2, 3)
    x[0] = scale(out[1]);
    out[1] = sum_of(x);
    v = v + v;
}
extern "C" void run(float* out, const float* x, int n) {
    rows<<1, 32>>(out, x, n);
    rows<<<1, 32>>>(out, n, x);
}
"""


@pytest.mark.parametrize(
    ("message", "line", "column", "said"),
    [
        ('expected a ";"', 6, 5, "a ';' is missing at the end of line 5"),
        ("expression must be a modifiable lvalue", 6, 5, "x is const"),
        ("too few arguments in function call", 6, 24, "scale takes (float x, float factor)"),
        ('no instance of function template "sum_of" matches the argument list', 7, 1, "sum_of<...>(...)"),
        ('no operator "+" matches these operands', 5, 1, "a vector type has no operators in CUDA"),
        ('class "float4" has no member "r"', 5, 1, "a float4 has x, y, z and w"),
        ('class "uint3" has no member "w"', 5, 1, "gridDim have x, y and z"),
        ("expression must have integral or unscoped enum type", 11, 5, "three angle brackets"),
        ('argument of type "int" is incompatible with parameter of type "const float *"', 12, 30,
         "rows takes (float* out, const float* x, int n)"),
        ("a variable length array cannot have static storage duration", 5, 1, "extern __shared__"),
        ("expression must have a constant value", 7, 1, "has to be known when compiling"),
        ('calling a __host__ function("helper(float)") from a __global__ function("rows") is not allowed', 6, 1,
         "write __device__ in front of helper"),
        ('no instance of overloaded function "atomicMax" matches the argument list', 6, 1, "of integers"),
        ('no instance of constructor "dim3::dim3" matches the argument list', 6, 1, "dim3(x, y, z)"),
        ("Unresolved extern function `_Z5scaleff`", 1, 1, "kernels/k.cu:2 names scale"),
        ('identifier "scales" is undefined', 6, 12, "did you mean scale?"),
        ('identifier "__half" is undefined', 6, 1, "#include <cuda_fp16.h>"),
    ],
)  # fmt: skip
def test_the_words_of_nvcc_have_the_same_hints(
    message: str, line: int, column: int, said: str
) -> None:
    error = Diagnostic(
        severity=Severity.ERROR, message=message, file="kernels/k.cu", line=line, column=column
    )
    assert said in (hint_for(error, [], Submission.of({"kernels/k.cu": NVCC})) or "")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.integers(-3, 12))
def test_any_message_at_any_line_is_answered(message: str, line: int) -> None:
    for form in ("{}", "'{}' was not declared in this scope", "expected ';' before '{}'",
                 "no matching function for call to '{}('", "cannot convert '{}'",
                 "undefined reference to `{}'", "read-only location '{}'"):  # fmt: skip
        hint(form.format(message.replace("{", "").replace("}", "")), line)
