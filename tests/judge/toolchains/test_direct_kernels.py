"""Which kernels Python can launch itself, and what is said of the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.core.plain import as_plain
from cuda_gym.judge.toolchains.direct_kernels import (
    DirectKernel,
    launches_directly,
    parse_kernels,
    with_entries,
)


def read(source: str) -> tuple[DirectKernel, ...]:
    return parse_kernels({"kernels/a.cu": source})


def problem(source: str) -> str:
    (kernel,) = read(source)
    return kernel.problem


@pytest.mark.parametrize(
    "definition",
    [
        "__global__ void scale(float* out, const float* x, int n) {}",
        'extern "C" __global__ void scale(float* out, const float* x, int n) {}',
        'extern "C" {\n__global__ void scale(float* out, const float* x, int n) {}\n}',
        "static __global__ void __launch_bounds__(256, 2) scale(float* __restrict__ out, const float* __restrict__ x, const int n) {}",
        "namespace { namespace inner { __global__ void scale(float out[], float const* x, int n = 3) {} } }",
        "#define KERNEL __global__ void\n#define real float\nKERNEL scale(real* out, const real* x, int32_t n) {}",
        "__global__ void scale(float*, const float*, int);\n__global__ void scale(float* out, const float* x, int n) {}",
    ],
)  # fmt: skip
def test_a_kernel_has_the_signature_of_its_definition(definition: str) -> None:
    (kernel,) = read(f"int before;\n{definition}\nint after;")
    assert str(kernel) == 'kernel("scale")[grid, block](float* out, const float* x, int n)'
    assert not kernel.problem
    assert kernel.line == definition[: definition.rindex("scale")].count("\n") + 2


@pytest.mark.parametrize(
    ("source", "fact", "remedy"),
    [
        ("template <class T>\n__global__ void k(T* x) {}", "is a template", "k<float><<<grid, block, 0, stream>>>"),
        ("__global__ void k(int n) {}\n__global__ void k(float x) {}", "another one of that name at kernels/a.cu:2", "rename"),
        ("\n__global__ void k(float2 shift) {}", "kernels/a.cu:2: parameter 1 of kernel 'k' (float2 shift)", "pass a float"),
        ("__global__ void k(float** x) {}", "pointer to a pointer", "its own pointer"),
        ("struct S { int a; };\n__global__ void k(S s) {}", "(S s)", "numbers as int"),
    ],
)  # fmt: skip
def test_a_kernel_that_python_cannot_launch_is_known_with_the_reason(
    source: str, fact: str, remedy: str
) -> None:
    assert fact in problem(source)
    assert remedy in problem(source)
    files = {"kernels/a.cu": source}
    assert with_entries(files) == files


def test_only_definitions_are_kernels() -> None:
    source = """
    // __global__ void comment() {}
    __device__ void device(float* x) {}
    __global__ void declared(float* x);
    #if 0
    __global__ void disabled(float* x) {}
    #endif
    extern "C" void launcher(int n) { kernel<<<1, 1>>>(nullptr); }
    struct __global__struct { void member() {} };
    """
    assert read(source) == ()


def test_an_entry_stands_behind_the_last_line_and_names_that_of_the_kernel() -> None:
    source = "namespace deep {\n__global__ void k(const long x[], bool b) {}\n}  // end"
    text = with_entries({"kernels/a.cu": source, "kernels/b.cuh": ""})["kernels/a.cu"]
    assert text.startswith(source + "\n#line 2 ")
    assert "::deep::k<<<dim3(" in text
    assert "const long cuda_gym_argument_0 [ ]" in text
    assert text.endswith("\n")


def test_a_file_whose_braces_do_not_match_gets_no_entry() -> None:
    files = {"kernels/a.cu": "__global__ void a(int* x) {}\n__global__ void k(int* x) { if (x) {"}
    assert with_entries(files) == files


@pytest.mark.parametrize(
    ("model", "asks"),
    [
        ("import cuda_extension\ncuda_extension.kernel('k')[1, 1]()", True),
        ("from cuda_extension import launch, kernel as k", True),
        ("import cuda_extension as ce\nce . kernel", True),
        ("# a fused kernel\nself.kernel_size = 3\nkernel = 3", False),
        ("import cuda_extension\ncuda_extension.scale(x)", False),
    ],
)
def test_a_model_that_asks_for_a_kernel_is_recognised(model: str, asks: bool) -> None:
    assert launches_directly(model) is asks


def test_a_kernel_may_have_parameters_of_types_that_its_file_names() -> None:
    (kernel,) = read("using bf16 = __nv_bfloat16;\n__global__ void f(bf16* out, const bf16* x) {}")
    assert str(kernel).endswith("(__nv_bfloat16* out, const __nv_bfloat16* x)")


def test_a_kernel_crosses_a_process_as_json() -> None:
    (kernel,) = read("__global__ void f(const half* x, bool b) {}")
    assert DirectKernel.from_plain(json.loads(json.dumps(as_plain(kernel)))) == kernel


WORDS = ["__global__", "void", "k", "(", ")", "{", "}", "namespace", "template", "<", ">", "float", "*", ",", "=", "[", "extern", '"C"', ";", "\n"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_any_text_keeps_its_lines(text: str) -> None:
    assert with_entries({"a.cu": text})["a.cu"].startswith(text)


@pytest.mark.parametrize("piece", ["__global__ ", "namespace a {", "__global__ void k(", "{", "}"])
def test_a_long_hostile_text_is_read_to_its_end(piece: str) -> None:
    read(piece * 20_000)
