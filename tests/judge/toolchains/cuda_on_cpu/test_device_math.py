"""Mathematical functions, roundings and conversions; see `programs/device_math.cu`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

# Comes with PyTorch.
mpmath = pytest.importorskip("mpmath")

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def functions(program: Programs) -> Any:
    return program("device_math.cu")


def inverse_of_erfc(x: Any) -> Any:
    return mpmath.erfinv(1 - x)


def distance(*others: float) -> Callable[[Any], Any]:
    return lambda x: mpmath.sqrt(x * x + sum(v * v for v in others))


# number: the function, where it is looked at, places that a double may be off
FUNCTIONS: dict[int, tuple[Callable[[Any], Any], float, float, float]] = {
    0: (lambda x: 1 / mpmath.sqrt(x), 1e-3, 1e3, 2),
    1: (lambda x: 1 / mpmath.cbrt(x), 1e-3, 1e3, 2),
    2: (mpmath.erfinv, -0.999, 0.999, 4),
    3: (inverse_of_erfc, 1e-9, 1.99, 8),
    4: (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -4, 30, 6),
    5: (mpmath.ncdf, -30, 5, 8),
    6: (lambda x: -mpmath.sqrt(2) * inverse_of_erfc(2 * x), 1e-9, 0.49, 8),
    7: (lambda x: mpmath.besseli(0, x), -40, 40, 8),
    8: (lambda x: mpmath.besseli(1, x), -40, 40, 8),
    9: (mpmath.sinpi, -5, 5, 4),
    10: (mpmath.cospi, -5, 5, 4),
    11: (lambda x: mpmath.power(10, x), -5, 5, 3),
    12: (lambda x: mpmath.besselj(0, x), 0.1, 2, 8),
    13: (lambda x: mpmath.besselj(1, x), 0.1, 2, 8),
    14: (lambda x: mpmath.bessely(0, x), 1, 3, 8),
    15: (mpmath.gamma, 0.1, 20, 10),
    16: (mpmath.loggamma, 3, 40, 8),
    17: (mpmath.erfc, -3, 9, 8),
    18: (lambda x: 1 / distance(2)(x), -9, 9, 3),
    19: (distance(2, 3), -9, 9, 3),
    20: (lambda x: 1 / distance(1, 2, 3)(x), -9, 9, 3),
    21: (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -9, 9, 2),
    22: (mpmath.asinh, -9, 9, 3),
    23: (lambda x: mpmath.atan2(x, 2), -9, 9, 3),
    24: (lambda x: mpmath.floor(mpmath.log(x, 2)), 0.01, 99, 0),
    25: (lambda x: max(x - 1, 0), -3, 3, 0),
    26: (mpmath.expm1, -3, 3, 3),
    27: (distance(1, 2, 3), -9, 9, 3),
    28: (lambda x: 1 / distance(2, 3)(x), -9, 9, 3),
    29: (lambda x: mpmath.besselj(2, x), 0.5, 4, 20),
}


@pytest.mark.parametrize("which", FUNCTIONS)
def test_functions_are_exact_to_a_few_places(functions: Any, which: int) -> None:
    function, low, high, places = FUNCTIONS[which]
    # Numbers that a float holds, so that both forms have the same argument.
    x = np.random.default_rng(which).uniform(low, high, 120).astype(np.float32).astype(np.float64)
    y, z = np.zeros(120), np.zeros(120, np.float32)
    functions("functions", which, x, y, z, 120)
    with mpmath.workdps(40):
        exact = np.array([float(function(mpmath.mpf(v))) for v in x.tolist()])
    assert (np.abs(y - exact) <= places * np.spacing(np.abs(exact))).all()
    # 2e-6: the C library's Bessel functions of floats, near their zeros.
    np.testing.assert_allclose(z, exact, rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize(
    ("which", "x", "expected"),
    [
        (2, [1, -1, 2, math.nan], [math.inf, -math.inf, math.nan, math.nan]),
        (3, [0, 2, -1, 1], [math.inf, -math.inf, math.nan, 0]),
        (4, [math.inf, -math.inf, 1e30, -30], [0, math.inf, 5.641895835477563e-31, math.inf]),
        (5, [math.inf, -math.inf, -40, 40], [1, 0, 3.655893540915029e-350, 1]),
        (6, [0, 1, 0.5, 2], [-math.inf, math.inf, 0, math.nan]),
        (7, [0, math.inf, 800, -800], [1, math.inf, math.inf, math.inf]),
        (8, [0, math.inf, -math.inf, math.nan], [0, math.inf, -math.inf, math.nan]),
        (9, [1, 2.5, 1e15, math.inf], [0, 1, 0, math.nan]),
        (10, [0.5, 1, 1e15, math.inf], [0, -1, 1, math.nan]),
        (19, [math.inf, math.nan, 1e200, 1e-200], [math.inf, math.nan, 1e200, math.sqrt(13)]),
    ],
)
def test_functions_have_their_values_at_the_edges(
    functions: Any, which: int, x: list[float], expected: list[float]
) -> None:
    y, z = np.zeros(4), np.zeros(4, np.float32)
    functions("functions", which, np.array(x, np.float64), y, z, 4)
    np.testing.assert_allclose(y, expected, rtol=1e-15)


def in_direction(exact: Fraction, column: int, nearest: Callable[[Fraction], float]) -> float:
    """Rounded by the column's direction: nearest, zero, down, up."""
    value = nearest(exact)
    if column == 0 or Fraction(value) == exact:
        return value
    wants_larger = column == 3 or (column == 1 and exact < 0)
    is_larger = Fraction(value) > exact
    if wants_larger == is_larger:
        return value
    kind = np.float32 if nearest is to_float else np.float64
    return float(np.nextafter(kind(value), kind(math.inf if wants_larger else -math.inf)))


def to_double(exact: Fraction) -> float:
    return exact.numerator / exact.denominator  # Python rounds once


def to_float(exact: Fraction) -> float:
    """A double with an odd last digit where it is inexact rounds to the same float as the value."""
    double = to_double(exact)
    if Fraction(double) != exact and not np.float64(double).view(np.int64) & 1:
        towards = math.inf if exact > Fraction(double) else -math.inf
        double = math.nextafter(double, towards)
    return float(np.float32(double))


OPERATIONS: list[Callable[[Fraction, Fraction, Fraction], Fraction]] = [
    lambda a, b, _: a + b,
    lambda a, b, _: a - b,
    lambda a, b, _: a * b,
    lambda a, b, _: a / b,
    lambda a, b, c: a * b + c,
    lambda a, _b, _c: 1 / a,
]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_arithmetic_rounds_in_the_direction_of_its_name(functions: Any, kind: Any) -> None:
    random = np.random.default_rng(5)
    n = 400
    a, b, c = (random.uniform(0.5, 2, n) * 2.0 ** random.integers(-20, 20, n) for _ in range(3))
    a[:20], b[:20] = random.integers(1, 9, (2, 20))
    b *= random.choice([-1, 1], n)
    a, b, c = a.astype(kind), b.astype(kind), c.astype(kind)
    out = np.zeros((n, 7, 4), kind)
    functions("rounded_floats" if kind is np.float32 else "rounded_doubles", a, b, c, out, n)
    nearest = to_float if kind is np.float32 else to_double
    for i in range(n):
        exact = tuple(Fraction(float(v[i])) for v in (a, b, c))
        for operation, function in enumerate(OPERATIONS):
            value = function(*exact)
            for column in range(4):
                assert out[i, operation, column] == in_direction(value, column, nearest)
        below, above = Fraction(float(out[i, 6, 2])), Fraction(float(out[i, 6, 3]))
        assert below**2 <= exact[0] <= above**2
        assert out[i, 6, 1] == out[i, 6, 2]
        assert out[i, 6, 3] in (out[i, 6, 2], np.nextafter(out[i, 6, 2], kind(math.inf)))
        assert out[i, 6, 0] == np.sqrt(a[i])


def test_roundings_overflow_and_underflow_in_their_direction(functions: Any) -> None:
    largest, tiny = np.finfo(np.float32).max, np.float32(1e-45)
    a = np.array([largest, -largest, tiny, -tiny], np.float32)
    out = np.zeros((4, 7, 4), np.float32)
    functions("rounded_floats", a, np.abs(a), np.zeros(4, np.float32), out, 4)
    assert out[0, 0].tolist() == [math.inf, largest, largest, math.inf]
    assert out[1, 1].tolist() == [-math.inf, -largest, -math.inf, -largest]
    assert out[2, 2].tolist() == [0, 0, 0, tiny]
    assert out[3, 2].tolist() == [0, 0, -tiny, 0]


def test_products_and_sums_to_nearest_are_never_fused(functions: Any) -> None:
    x = np.random.default_rng(8).uniform(1, 1.001, 1000).astype(np.float32)
    out = np.zeros((1000, 2), np.float32)
    functions("unfused", x, out, 1000)
    for column in range(2):
        np.testing.assert_array_equal(out[:, column], x * x - np.float32(1))


def whole_in_direction(v: float, column: int) -> int:
    return int((np.rint, np.trunc, np.floor, np.ceil)[column](v))


def test_numbers_convert_in_each_direction_and_saturate(functions: Any) -> None:
    random = np.random.default_rng(11)
    x = np.concatenate(
        [random.uniform(-1e10, 1e10, 100), random.uniform(-9, 9, 80), [2.5, 3.5, -0.5]]
    )
    x = np.concatenate([x, [1e300, -1e300, math.nan, 2.0**31, -(2.0**31), 2.0**63, 2.0**64]])
    n = len(x)
    w = random.integers(-(2**63), 2**63, n) >> random.integers(0, 63, n)
    f, d = np.zeros((n, 6, 4), np.float32), np.zeros((n, 2, 4))
    out = np.zeros((n, 8, 4), np.int64)
    functions("conversions", x, w, f, d, out, n)
    sizes = [(-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**63), 2**63 - 1), (0, 2**64 - 1)]
    with np.errstate(over="ignore"):
        narrow = x.astype(np.float32).astype(np.float64)
    for i, column in ((i, column) for i in range(n) for column in range(4)):
        if abs(x[i]) < 1e38:
            assert f[i, 0, column] == in_direction(Fraction(x[i]), column, to_float)
        value = int(w[i])
        low, wide = value & 0xFFFFFFFF, value & 0xFFFFFFFFFFFFFFFF
        signed = low - 2**32 if low >= 2**31 else low
        for row, exact in enumerate((signed, low, value, wide), 1):
            assert f[i, row, column] == in_direction(Fraction(exact), column, to_float)
        for row, exact in enumerate((value, wide)):
            assert d[i, row, column] == in_direction(Fraction(exact), column, to_double)
        for row, (smallest, largest) in enumerate(sizes):
            for is_double, number in enumerate((narrow[i], x[i])):
                if math.isnan(number):
                    bits = 64 if row >= 2 else 32
                    expected = 2 ** (bits - 1) if bits == 64 or is_double else 0
                    expected -= 2**bits if smallest and expected else 0
                else:
                    clipped = max(min(number, 2.0**65), -(2.0**65))
                    expected = min(max(whole_in_direction(clipped, column), smallest), largest)
                got = int(out[i, 2 * row + is_double, column])
                assert got == (expected - 2**64 if expected >= 2**63 else expected)


def test_functions_with_several_results_and_overloads(functions: Any) -> None:
    out = np.zeros(22)
    functions("facts", out)
    expected = [1, -10, 10, 10, 4.75, 28, 29.25, 39, 7 + 100 / 7, 21, -2, 1111, 1.25, 0.75]
    expected += [2 + 40 + 300 - 3000, 7, 4 - 1 + 2.5 + 7 - 3, 23, 12, 8 + 8 + 0.5 + 4 + 8]
    expected += [4 + 2 + 9 + 1, 0.5 + 0.5 + 0.5 + 0 + 1 + 10]
    np.testing.assert_allclose(out, expected, rtol=1e-6)
