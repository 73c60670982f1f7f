from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.kernels import kernel_heads, kernel_words
from cuda_gym.judge.toolchains.cuda_source import Source


def heads(text: str) -> list[tuple[set[str], bool, bool]]:
    """(names, whether it has parameters here, whether it has a body here) of each kernel."""
    source = Source("k.cu", text)
    found = kernel_heads(source, kernel_words([source]))
    return [(set(h.names), h.opening is not None, h.body is not None) for h in found]


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int* x) {}",
        "static __global__ void __launch_bounds__(N < 4 ? 64 : 128, 2) k(int* x) {}",
        "__global__ static void k(int* x) {}",
        "void __global__ k(int* x) {}",
        'extern "C" __global__ void k(int* x) {}',
        "template <class T, int N = 2> __global__ void k(T (&x)[N]) {}",
        "template <> __global__ void k<float>(float* x) {}",
        "__global__\nvoid\nk\n(\nint* x\n)\n{}",
        "__global__ void k(int (*f)(int), int* x) noexcept {}",
        "#define BOUNDS(n) __launch_bounds__(n)\n__global__ void BOUNDS(256) k(int* x) {}",
        "#define KERNEL __global__ void\nKERNEL k(int* x) {}",
        "#define GLOBAL __global__\n#define KERNEL GLOBAL void\nKERNEL k(int* x) {}",
        "#define KERNEL(bounds) __global__ void __launch_bounds__(bounds)\nKERNEL(64) k(int* x) {}",
        "#define KERNEL(name) __global__ void name\nKERNEL(k)(int* x) {}",
        "#define MAKE(name) __global__ void name(int* x) { *x = 1; }\nMAKE(k)",
        "#define MAKE(name) __global__ void \\\n  name(int* x) { \\\n    *x = 1; \\\n  }\nMAKE(k)",
    ],
)
def test_a_kernel_is_found_however_it_is_declared(text: str) -> None:
    assert heads(text) == [({"k"}, True, True)]


def test_a_prototype_has_no_body() -> None:
    assert heads("__global__ void k(int*, int = 3);") == [({"k"}, True, False)]


def test_a_macro_may_bring_the_parameters() -> None:
    text = "#define KERNEL(name, ...) __global__ void name(__VA_ARGS__)\nKERNEL(k, int* x) {}"
    (declared, has_parameters, has_body), (_, _, uses_body) = heads(text)
    assert declared == {"k"}
    assert (has_parameters, has_body, uses_body) == (True, False, True)


def test_a_macro_that_pastes_names_declares_a_kernel_for_each_use() -> None:
    text = "#define MAKE(name, e) __global__ void name##_kernel(int* x) { *x = e; }\nMAKE(a, 1) MAKE(b, f(2, 3))"
    assert heads(text) == [({"a_kernel", "b_kernel"}, True, True)]


@pytest.mark.parametrize("text", ["// __global__ void k() {}", '"__global__ void k() {}"', "int global;"])  # fmt: skip
def test_nothing_else_is_a_kernel(text: str) -> None:
    assert heads(text) == []
