"""Products of matrices by a warp, against numpy; see `programs/wmma.cu`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def wmma(program: Programs) -> Any:
    return program("wmma.cu")


def as_bfloat16(x: Any) -> Any:
    """The upper halves of floats that have no lower ones."""
    bits = x.astype(np.float32).view(np.uint32)
    assert (bits & 0xFFFF == 0).all()
    return (bits >> 16).astype(np.uint16)


# name: shape, type of the factors, type of the sum, whether a, b and the sum are stored by columns
PRODUCTS: dict[str, tuple[tuple[int, int, int], Any, Any, str]] = {
    "half_float": ((16, 16, 16), np.float16, np.float32, "b"),
    "half_half": ((16, 16, 16), np.float16, np.float16, "ac"),
    "half_tall": ((32, 8, 16), np.float16, np.float32, ""),
    "half_wide": ((8, 32, 16), np.float16, np.float16, "ab"),
    "bfloat16": ((16, 16, 16), as_bfloat16, np.float32, "c"),
    "bfloat16_tall": ((32, 8, 16), as_bfloat16, np.float32, "a"),
    "bfloat16_wide": ((8, 32, 16), as_bfloat16, np.float32, "b"),
    "tf32": ((16, 16, 8), np.float32, np.float32, "b"),
    "signed_bytes": ((16, 16, 16), np.int8, np.int32, "b"),
    "unsigned_bytes": ((32, 8, 16), np.uint8, np.int32, "ac"),
    "doubles": ((8, 8, 4), np.float64, np.float64, "b"),
}


def stored(x: Any, kind: Any, *, by_columns: bool) -> Any:
    laid_out = np.ascontiguousarray(x.T if by_columns else x)
    return laid_out.astype(kind) if isinstance(kind, type) else kind(laid_out)


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_warp_multiplies_matrices_of_every_shape_type_and_layout(wmma: Any, name: str) -> None:
    (m, n, k), kind, sum_kind, by_columns = PRODUCTS[name]
    random = np.random.default_rng(m * n + k)
    low = 0 if kind is np.uint8 else -9
    # Small whole numbers, so that every order of additions gives the same.
    a, b, c = (random.integers(low, 10, shape) for shape in ((m, k), (k, n), (m, n)))
    d = np.zeros((n, m) if "c" in by_columns else (m, n), sum_kind)
    wmma(
        name,
        stored(a, kind, by_columns="a" in by_columns),
        stored(b, kind, by_columns="b" in by_columns),
        stored(c, sum_kind, by_columns="c" in by_columns),
        d,
        0,
    )
    np.testing.assert_array_equal(d.T if "c" in by_columns else d, a @ b + c)


def test_float_is_rounded_to_tf32_half_way_away_from_zero(wmma: Any) -> None:
    # 1 + 2^-11 is half way between two numbers of ten digits.
    a, b = np.zeros((16, 8), np.float32), np.zeros((16, 8), np.float32)
    a[0, :3] = [1 + 2**-11, 1 + 2**-12, -(1 + 2**-11)]
    for column in range(3):
        b[column, column] = 1.0
    c, d = np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32)
    wmma("tf32", a, b, c, d, 0)
    assert d[0, :3].tolist() == [1 + 2**-10, 1.0, -(1 + 2**-10)]


@pytest.mark.parametrize(("saturates", "expected"), [(0, -(2**31) + 15), (1, 2**31 - 1)])
def test_whole_sums_wrap_around_or_saturate(wmma: Any, saturates: int, expected: int) -> None:
    a, b = np.ones((16, 16), np.int8), np.ones((16, 16), np.int8)
    c, d = np.full((16, 16), 2**31 - 1, np.int32), np.zeros((16, 16), np.int32)
    wmma("signed_bytes", a, b, c, d, saturates)
    assert (d == expected).all()


def test_many_warps_multiply_large_matrices_tile_by_tile(wmma: Any) -> None:
    n = 80
    random = np.random.default_rng(n)
    a, b = (random.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2))
    c, d = random.integers(-9, 9, (n, n)).astype(np.float32), np.zeros((n, n), np.float32)
    wmma("gemm", a, b, c, d, n)
    np.testing.assert_array_equal(d, 2 * (a.astype(np.float32) @ b.astype(np.float32)) - c)


def test_a_lane_holds_as_many_elements_as_on_a_gpu(wmma: Any) -> None:
    out = np.zeros(7, np.int32)
    wmma("sizes", out)
    assert out.tolist() == [16, 16, 8, 16, 4, 4, 2]
