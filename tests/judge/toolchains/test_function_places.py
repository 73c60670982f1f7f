from __future__ import annotations

import pytest

from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.function_places import (
    extern_c_warnings,
    find_functions,
    hidden_launchers,
)
from cuda_gym.judge.toolchains.launchers import parse_launchers

LAUNCHES = "{ k<<<1, 32, 0, s>>>(x); }"
FILES = {
    "kernels/a.cu": f'extern "C" void go(float* x, cudaStream_t s) {LAUNCHES}\n'
    f"void lost(float* x, cudaStream_t s) {LAUNCHES}\n",
    "kernels/b.cu": "namespace n {\n__global__ void k(float* x) {}\n}\nvoid go(int) {}\n",
}


def test_a_function_is_found_in_every_file() -> None:
    assert list(map(str, find_functions(FILES, "go"))) == ["kernels/a.cu:1", "kernels/b.cu:4"]
    assert list(map(str, find_functions(FILES, "k"))) == ["kernels/b.cu:2"]


@pytest.mark.parametrize(
    "source",
    [
        f'extern "C" void go(float* x, cudaStream_t s) {LAUNCHES}',
        f'extern "C" {{\nvoid go(float* x, cudaStream_t s) {LAUNCHES}\n}}',
        f"static void go(float* x, cudaStream_t s) {LAUNCHES}",
        f"template <class T> void go(T* x, cudaStream_t s) {LAUNCHES}",
        "__global__ void k(float* x) {}",
        "void go(float* x) { x[0] = 1; }",
    ],
)
def test_what_python_finds_or_nobody_wants_to_call_is_not_hidden(source: str) -> None:
    assert hidden_launchers({"kernels/a.cu": source}) == ()


def test_a_call_of_a_function_without_a_c_name_is_told_at_its_definition() -> None:
    model = "import cuda_extension\ncuda_extension.lost(x)\ncuda_extension.go(x)\n"
    [warning] = extern_c_warnings(FILES, model)
    assert (warning.file, warning.line) == ("kernels/a.cu", 2)
    assert 'write extern "C" in front of it' in warning.message
    assert extern_c_warnings(FILES, "cuda_extension.go(x)") == ()


def test_a_c_name_that_a_macro_of_a_header_gives_is_one() -> None:
    source = f'#include "api.h"\nAPI void go(float* x, cudaStream_t s) {LAUNCHES}'
    assert (
        hidden_launchers({"kernels/a.cu": source, "kernels/api.h": '#define API extern "C"'}) == ()
    )


def test_where_no_function_has_a_c_name_each_that_launches_is_told() -> None:
    with pytest.raises(CompileError) as caught:
        parse_launchers({"kernels/a.cu": f"\nvoid lost(float* x, cudaStream_t s) {LAUNCHES}"})
    assert str(caught.value) == (
        "kernels/a.cu:2: error: function 'lost' is a C++ function, which Python cannot find; "
        'write extern "C" in front of it'
    )
