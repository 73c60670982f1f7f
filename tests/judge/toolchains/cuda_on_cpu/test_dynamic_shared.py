from __future__ import annotations

import pytest

from cuda_gym.judge.toolchains.cuda_on_cpu.rewrite import rewrite


def rewritten(text: str) -> str:
    return rewrite({"k.cu": text}).files["k.cu"].text


@pytest.mark.parametrize(
    ("declaration", "pointer"),
    [
        ("extern __shared__ float s[];", "float * const s = (float*)"),
        ("extern __shared__ float s[][4];", "float (* const s)[4] = (float (*)[4])"),
        ("extern __shared__ __align__(16) float s[];", "float * const s = (float*)"),
        ("extern __shared__ __align__(sizeof(T)) char s[];", "char * const s = (char*)"),
        ("extern __shared__ alignas(16) float s[];", "float * const s = (float*)"),
        ("extern volatile __shared__ int s[];", "volatile int * const s = (volatile int*)"),
        ("volatile extern __shared__ int s[];", "volatile int * const s = (volatile int*)"),
        ("extern __shared__ volatile int s[];", "volatile int * const s = (volatile int*)"),
        ("__shared__ extern unsigned int s[];", "unsigned int * const s = (unsigned int*)"),
        ("extern __shared__ struct S s[];", "struct S * const s = (struct S*)"),
    ],
)
def test_dynamic_shared_memory_is_a_pointer_to_that_of_the_block(
    declaration: str, pointer: str
) -> None:
    text = rewritten(f"template <class T> __global__ void k() {{ {declaration} use(s); }}")
    assert f"{pointer}cuda_on_cpu_dynamic_shared;" in text
    assert "extern" not in text


def test_at_namespace_scope_every_function_that_uses_it_declares_it() -> None:
    text = rewritten(
        "extern __shared__ float s[];\n"
        "__device__ void f() { s[0] = 1; }\n"
        "__device__ void g(float* s) { s[0] = 1; }\n"
        "__device__ void h() {}\n"
    )
    nowhere, first, parameter, unused = text.splitlines()
    assert not nowhere.strip()
    assert "float * const s = " in first
    assert "const s" not in parameter + unused


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("static __shared__ int x;", "__shared__ int x;"),
        ("__shared__ static int x;", "__shared__ int x;"),
        ("__shared__ alignas(16) int x;", "alignas(16) __shared__ int x;"),
        ("__shared__ int x;", "__shared__ int x;"),
    ],
)
def test_static_shared_memory_is_written_as_the_host_compiler_takes_it(
    declaration: str, expected: str
) -> None:
    assert f"{{ {expected} }}" in rewritten(f"__device__ void f() {{ {declaration} }}")
