"""The vectorised functions against double precision, over a dense sweep of all floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sinf(v)": (np.sin, 1.7),
    "cosf(v)": (np.cos, 1.7),
    "tanf(v)": (np.tan, 3.5),
    "exp10f(v)": (lambda x: 10.0**x, 0.6),
    "erfcf(v)": (np.vectorize(math.erfc), 0.6),
    "powf(v, 2.5f)": (lambda x: x**2.5, 0.6),
    "powf(fabsf(v), -0.3f)": (lambda x: np.abs(x) ** -np.float64(np.float32(0.3)), 0.6),
    "powf(1.7f, v)": (lambda x: np.float64(np.float32(1.7)) ** x, 0.6),
    "expf(v)": (np.exp, 2.5),
    "logf(v)": (np.log, 2.5),
    "tanhf(v)": (np.tanh, 2.5),
    "erff(v)": (np.vectorize(math.erf), 2.5),
}


@pytest.fixture(scope="module")
def program(compile_source: Callable[[str], Any]) -> Any:
    kernels = "".join(
        f"__global__ void k{i}(const float* x, float* y, int n) {{ int i = blockIdx.x * blockDim.x + "
        f"threadIdx.x; if (i < n) {{ float v = x[i]; y[i] = {text}; }} }}\n"
        f'extern "C" void f{i}(const float* x, float* y, int n) {{ k{i}<<<(n + 255) / 256, 256>>>(x, y, n); }}\n'
        for i, text in enumerate(FUNCTIONS)
    )
    return compile_source(kernels)


@pytest.mark.parametrize("text", FUNCTIONS)
def test_vectorised_functions_are_as_exact_as_they_say(program: Any, text: str) -> None:
    function, most = FUNCTIONS[text]
    x = np.arange(0, 1 << 32, 65_519, dtype=np.uint64).astype(np.uint32).view(np.float32)
    y = np.empty_like(x)
    program(f"f{list(FUNCTIONS).index(text)}", x, y, x.size)
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64))
        expected = exact.astype(np.float32)
        spacing = np.maximum(np.spacing(np.abs(expected)), np.float32(1e-45)).astype(np.float64)
        error = np.abs(y.astype(np.float64) - exact) / spacing
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(expected))
    np.testing.assert_array_equal(y[np.isinf(expected)], expected[np.isinf(expected)])
    assert error[finite].max() < most


@pytest.mark.parametrize(
    ("x", "y"),
    [(a, b) for a in (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, math.inf, -math.inf, math.nan, 1e-42)
     for b in (0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -2.0, math.inf, -math.inf, math.nan)],
)  # fmt: skip
def test_powers_at_the_edges_are_those_of_the_c_standard(pairs: Any, x: float, y: float) -> None:
    a, b, c = (np.array([v], np.float32) for v in (x, y, 7.0))
    pairs("f", a, b, c)
    with np.errstate(all="ignore"):
        expected = np.power(a, b)
    np.testing.assert_allclose(c, expected, rtol=1e-6)
    assert np.signbit(c[0]) == np.signbit(expected[0]) or np.isnan(c[0])


@pytest.fixture(scope="module")
def pairs(compile_source: Callable[[str], Any]) -> Any:
    return compile_source(
        "__global__ void k(const float* a, const float* b, float* c) { c[0] = powf(a[0], b[0]); }\n"
        'extern "C" void f(const float* a, const float* b, float* c) { k<<<1, 1>>>(a, b, c); }\n'
    )
