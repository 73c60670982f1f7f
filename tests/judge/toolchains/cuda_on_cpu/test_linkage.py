from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite

MACROS = (
    "#define DEVICE __device__\n#define INLINE_DEVICE __device__ __forceinline__\n"
    '#define EXPORT extern "C"\n#define CHECK(x) do { static int n; n += x; } while (0)\n'
)


def is_static(text: str, elsewhere: str = "") -> bool:
    files = rewrite({"a.cu": MACROS + text, "b.cu": elsewhere}, is_submission=False).files
    return files["a.cu"].text.count("static") > (MACROS + text).count("static")


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int* x) {}",
        "void __global__ k(int* x) {}",
        "__device__ int f(int x) { return x; }",
        "DEVICE int f(int x) { return x; }",
        "int __device__ f(int x) { return x; }",
        "__constant__ float c[4];",
        "__device__ ns::type x;",
        "__managed__ __device__ float x = 1;",
        "__device__ float (*pointer)(float) = f;",
        "namespace n { __device__ int x; }",
    ],
)
def test_what_only_its_file_knows_is_static(text: str) -> None:
    assert is_static(text)


@pytest.mark.parametrize(
    "text",
    [
        "int x;",
        "__device__ int f(int x);",
        "__host__ __device__ int f(int x) { return x; }",
        "static __device__ int f(int x) { return x; }",
        "INLINE_DEVICE int f(int x) { return x; }",
        "template <class T> __device__ T f(T x) { return x; }",
        'extern "C" __global__ void k() {}',
        "EXPORT __global__ void k() {}",
        "struct S { __device__ int f() { return 1; } };",
        "__device__ int S::f() { return 1; }",
        "auto f = [] __device__ (int x) { return x; };",
        "auto f = g([=] __device__ (int x) { return x; });",
        "class C { friend __global__ void k(C); };\n__global__ void k(C c) {}",
    ],
)
def test_what_has_its_linkage_keeps_it(text: str) -> None:
    assert not is_static(text)


def test_what_another_file_refers_to_is_visible_to_it() -> None:
    assert not is_static("__device__ int x = 4;", "extern __device__ int x;")
    assert not is_static("__device__ int f() { return 4; }", "__device__ int f();")
    assert is_static("__device__ int x = 4;", "__device__ int x = 5;")
