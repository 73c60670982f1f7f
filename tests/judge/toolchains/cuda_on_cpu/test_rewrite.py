from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode
from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite


def rewritten(text: str) -> str:
    return rewrite({"kernels/k.cu": text}).files["kernels/k.cu"].text


PLAIN = """#include <vector>
// <<< this is no launch >>> and __global__ is no kernel
/* extern __shared__ float x[]; */
#define TWICE(x) ((x) * 2)
template <class T> struct Pair { T a, b; Pair<Pair<T>> *c; };
static const char* text = "k<<<1, 2>>>(x)";
int shifted(int a) { return a << 3 >> 2; }
"""


def test_text_without_cuda_is_left_alone() -> None:
    assert rewritten(PLAIN) == PLAIN


def test_a_kernel_gets_its_hidden_parameter_and_its_indices() -> None:
    text = rewritten(
        "__global__ void k(int* x) { *x = 1; }\n__global__ void l() {}\n__global__ void m(void);"
    )
    first, second, third = text.splitlines()
    assert "cuda_on_cpu_thread, int* x)" in first
    assert "{ CUDA_ON_CPU_PROLOGUE  *x = 1; }" in first
    assert second.count(", ") == 0
    assert "void)" not in third


def test_a_launch_becomes_a_call() -> None:
    text = rewritten("void f(int* x) { k<int, 2><<<g(1, 2), 3, 0, s>>>(x, NULL); }")
    assert "<<<" not in text
    assert "k<int, 2>(cuda_on_cpu_thread, cuda_on_cpu_arguments...)" in text
    assert "CUDA_ON_CPU_TEXT(k)" in text
    assert "nullptr" in text


def test_a_launch_over_many_lines_keeps_them() -> None:
    text = "void f(int* x) {\n  k<int,\n    2>\n  <<<1,\n 2\n>>>\n(\n x);\n}\nint line_10;\n"
    lines = rewritten(text).splitlines()
    assert len(lines) == len(text.splitlines())
    assert lines[9] == "int line_10;"
    assert lines[7] == " x);"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f() {\n k<<<1, 2(x); }", "<<< without >>>"),
        ("void f() {\n k<<<1, 2>>>; }", "without its list of arguments"),
        ("void f() {\n  <<<1, 2>>>(x); }", "no name of a kernel"),
    ],
)
def test_a_launch_that_cannot_be_read_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message) as error:
        rewritten(text)
    diagnostic = error.value.diagnostics[0]
    assert (diagnostic.file, diagnostic.line) == ("kernels/k.cu", 2)


def test_every_kernel_is_listed_with_its_mode() -> None:
    program = rewrite(
        {
            "kernels/a.cu": "__global__ void a(int* x) { *x = 1; }",
            "kernels/b.cuh": "template <int N> __global__ void __launch_bounds__(N) b() { __syncthreads(); }",
        }
    )
    assert dict(program.kernels) == {"a": Mode.LOOP, "b": Mode.PHASES}


@pytest.mark.parametrize(
    ("text", "is_static"),
    [
        ("__global__ void k(int* x) {}", True),
        ("__device__ int f(int x) { return x; }", True),
        ("__constant__ float c[4];", True),
        ("__device__ int f(int x);\n__device__ int f(int x) { return x; }", True),
        ("__device__ int f(int x);", False),
        ("__host__ __device__ int f(int x) { return x; }", False),
        ("static __device__ int f(int x) { return x; }", False),
        ("template <class T> __device__ T f(T x) { return x; }", False),
        ('extern "C" __global__ void k() {}', False),
        ("struct S { __device__ int f() { return 1; } };", False),
    ],
)
def test_device_code_is_kept_to_its_file_as_nvcc_does(text: str, is_static: bool) -> None:
    assert ("static __" in rewritten(text).replace("static __device__ int f(int x) { return x; }", "")
            or rewritten(text).count("static") > text.count("static")) == is_static  # fmt: skip


def test_shared_memory_becomes_what_the_host_compiler_takes() -> None:
    assert "float * const s = (float*)cuda_on_cpu_dynamic_shared;" in rewritten(
        "__global__ void k() { extern __shared__ __align__(16) float s[]; }"
    )
    assert "float (* const s)[4]" in rewritten(
        "__global__ void k() { extern __shared__ float s[][4]; }"
    )
    assert "static" not in rewritten("void f() { static __shared__ int x; }")
    assert "alignas(16) __shared__ int x" in rewritten("void f() { __shared__ alignas(16) int x; }")


FRAGMENTS = st.sampled_from(
    [
        "__global__ ", "__device__ ", "void ", "k", "(", ")", "{", "}", "<<<", ">>>", "<", ">", ";", "\n",
        "extern __shared__ ", "float ", "x", "[]", ", ", "template ", "class T", "#define M", "\\\n", "::",
        "operator", "__syncthreads();", "NULL", "/*", "*/", "//", '"', "'", "struct ", "=", "#if ", "#endif",
        "__shared__ ", "static ", "alignas(", "1", "##", "é", "\r\n", "R\"(", "__noinline__",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENTS, max_size=40).map("".join) | st.text(max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    try:
        result = rewritten(text)
    except (CompileError, UnsupportedOnDevice):
        return
    assert result.count("\n") == text.count("\n")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["int x;\n", "// c\n", "\n", "k<<<1,\n 2>>>(\nx);", "__global__ void k(\nint* x) {\n}"]), max_size=8))  # fmt: skip
def test_what_follows_keeps_its_line(parts: list[str]) -> None:
    text = "void f() {" + "".join(parts) + "\nMARK"
    line = next(i for i, row in enumerate(text.splitlines()) if row == "MARK")
    try:
        result = rewritten(text)
    except (CompileError, UnsupportedOnDevice):
        return
    assert result.splitlines()[line] == "MARK"
