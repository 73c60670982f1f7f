from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_declarations import declarations
from cuda_gym.judge.toolchains.cuda_on_cpu.kernel_values import KernelNames, kernel_names
from cuda_gym.judge.toolchains.cuda_source import Source

KERNEL = "__global__ void k(int* x) { *x = 1; }\n"
MACROS = "#define LAUNCH(f, x) f<<<1, 1>>>(x)\n#define NAME(f) print(f)\n"


def names(text: str) -> KernelNames:
    source = Source("k.cu", MACROS + KERNEL + text)
    return kernel_names([source], list(declarations(source)), [frozenset({"k"})])


@pytest.mark.parametrize(
    "text",
    [
        "void (*f)(int*) = k;",
        "void (*f)(int*) = &k;",
        "void (*table[])(int*) = {other, k};",
        "void g() { run<k>(); }",
        "void g() { run(1, k); }",
        "void g() { run(k<int, 2>, 1); }",
        "auto g() { return k; }",
        "auto g(bool b) { return b ? k : other; }",
        "void g(int* x) { (k)<<<1, 1>>>(x); }",
        "void g() { NAME(k); }",
        "void g() { f = ns::k; }",
    ],
)
def test_a_kernel_that_is_also_a_value_keeps_its_type(text: str) -> None:
    assert names(text).values == {"k"}
    assert not names(text).hidden


@pytest.mark.parametrize(
    "text",
    [
        "void g(int* x) { k<<<1, 1>>>(x); k<int><<<1, 1>>>(x); ns::k <<<1, 1>>>(x); }",
        "void g(int* x) { LAUNCH(k, x); }",
        "__global__ void k(int* x);\ntemplate __global__ void k<int>(int*);",
        "void g() { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1); }",
        "void g() { cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k<int>, f(2), 0); }",
        "float g(float k) { return h(k) + 2 * k; }",
        "void g(int* p) { for (int k = 0; k < 4; ++k) p[k] = k; }",
        "void g(const float& k, float* out) { *out = k; }",
        "int g(S s) { return s.k; }",
        "using ns::k;",
    ],
)
def test_a_kernel_that_is_only_launched_has_its_hidden_parameter(text: str) -> None:
    assert names(text).hidden == {"k"}


def test_a_name_is_shadowed_only_in_the_function_that_gives_it_away() -> None:
    text = "void g(Kernel k, int* x) { k<<<1, 1>>>(x); }\nvoid h(int* x) { k<<<1, 1>>>(x); }\n"
    found = names(text)
    source = Source("k.cu", MACROS + KERNEL + text)
    first, second = (source.text.index("k<<<", source.text.index(f"void {f}(")) for f in "gh")
    assert found.is_shadowed("k", source, first)
    assert not found.is_shadowed("k", source, second)


def test_kernels_of_one_macro_keep_their_types_together() -> None:
    source = Source("k.cu", "void (*f)(int*) = a;")
    found = kernel_names([source], list(declarations(source)), [frozenset({"a", "b"}), frozenset({"c"})])  # fmt: skip
    assert found.values == {"a", "b"}
    assert found.hidden == {"c"}
