"""half and bfloat16 to the bit, against exact arithmetic; see `programs/narrow_floats.cu`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

Programs = Callable[..., Any]

ZERO = "zero"
DOWN = "down"
UP = "up"
NEAREST = "nearest"
DIRECTIONS = (NEAREST, ZERO, DOWN, UP)


@dataclass(frozen=True, kw_only=True)
class Format:
    """A binary floating-point format of 16 bits."""

    digits: int
    least_exponent: int

    @property
    def fraction_bits(self) -> int:
        return self.digits - 1

    @property
    def infinity(self) -> int:
        return (1 << (16 - 1)) - (1 << self.fraction_bits)

    def value(self, bits: int) -> float:
        """As a float, which holds every number of the format."""
        sign = -1.0 if bits >> 15 else 1.0
        magnitude = bits & 0x7FFF
        exponent, fraction = magnitude >> self.fraction_bits, magnitude % (1 << self.fraction_bits)
        if magnitude >= self.infinity:
            return sign * math.inf if magnitude == self.infinity else math.nan
        if exponent:
            fraction |= 1 << self.fraction_bits
        scale = max(exponent, 1) - 1 + self.least_exponent - self.fraction_bits
        return sign * math.ldexp(fraction, scale)

    def rounded(self, exact: Fraction | float, direction: str = NEAREST) -> int:
        """The bits of an exact value, rounded once; a float keeps its sign of zero."""
        if isinstance(exact, float) and not math.isfinite(exact):
            if math.isnan(exact):
                return 0x7FFF
            return self.infinity | (0x8000 if exact < 0 else 0)
        is_negative = math.copysign(1, exact) < 0 if isinstance(exact, float) else exact < 0
        sign = 0x8000 if is_negative else 0
        magnitude = abs(Fraction(exact))
        if not magnitude:
            return sign
        # At most one too low.
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
        if magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        exponent = max(exponent, self.least_exponent)
        steps = magnitude / Fraction(2) ** (exponent - self.fraction_bits)
        whole, rest = steps.numerator // steps.denominator, steps % 1
        away = (
            rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
            if direction == NEAREST
            else rest > 0 and direction == (DOWN if is_negative else UP)
        )
        whole += away
        bits = ((exponent - self.least_exponent) << self.fraction_bits) + whole
        largest = self.infinity if direction in (NEAREST, DOWN if is_negative else UP) else None
        return sign | min(bits, self.infinity - 1 if largest is None else largest)


FORMATS = {
    "half": Format(digits=11, least_exponent=-14),
    "bfloat16": Format(digits=8, least_exponent=-126),
}
ALL = np.arange(65536, dtype=np.uint16)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Infinities and NaN are among the numbers."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def narrow(program: Programs) -> Any:
    return program("narrow_floats.cu")


@pytest.fixture(params=FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def values(name: str, bits: Any = ALL) -> Any:
    """The numbers of bit patterns, as float64."""
    if name == "half":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def assert_same(name: str, got: Any, expected: Any) -> None:
    """To the bit, except that one NaN is as good as another."""
    is_nan = np.isnan(values(name, expected))
    np.testing.assert_array_equal(np.isnan(values(name, got)), is_nan)
    np.testing.assert_array_equal(got[~is_nan], expected[~is_nan])


def rounded(name: str, exact: Any, direction: str = NEAREST) -> Any:
    """The bits of many float64 values, each rounded once; scaling by powers of two is exact."""
    form = FORMATS[name]
    magnitude = np.abs(np.nan_to_num(exact, nan=0.0, posinf=0.0, neginf=0.0))
    is_negative = np.signbit(exact)
    of_zero = np.where(magnitude == 0, 2.0**form.least_exponent, magnitude)
    exponent = np.maximum(np.frexp(of_zero)[1] - 1, form.least_exponent)
    steps = np.ldexp(magnitude, form.fraction_bits - exponent)
    away = is_negative if direction == DOWN else ~is_negative
    if direction == NEAREST:
        whole = np.rint(steps)
    else:
        whole = np.where(away & (direction != ZERO), np.ceil(steps), np.floor(steps))
    bits = ((exponent - form.least_exponent) << form.fraction_bits) + whole.astype(np.int64)
    stays_finite = ~away if direction in (UP, DOWN) else np.full(away.shape, direction == ZERO)
    bits = np.minimum(bits, form.infinity - stays_finite)
    bits = np.where(np.isinf(exact), form.infinity, bits)
    bits = np.where(np.isnan(exact), 0x7FFF, bits | is_negative.astype(np.int64) << 15)
    return bits.astype(np.uint16)


def unary(narrow: Any, name: str, which: int) -> Any:
    out = np.zeros(65536, np.uint16)
    narrow(f"{name}_unary", which, ALL, out, 65536)
    return out


EXACT: dict[int, Callable[[Any], Any]] = {
    0: lambda x: -x,
    1: np.abs,
    2: np.sqrt,
    3: lambda x: 1 / x,
    4: np.floor,
    5: np.ceil,
    6: np.trunc,
    7: np.rint,
    18: np.sqrt,
    19: lambda x: 1 / x,
    21: lambda x: -x,
    22: np.isnan,
    23: lambda x: np.where(np.isinf(x), np.sign(x) * 2, 0),
    24: np.isnan,
    25: lambda x: x,
    26: lambda x: x,
}


@pytest.mark.parametrize("which", EXACT)
def test_every_number_has_its_exact_root_inverse_and_whole_part(
    narrow: Any, name: str, which: int
) -> None:
    exact = EXACT[which](values(name)).astype(np.float64)
    assert_same(name, unary(narrow, name, which), rounded(name, exact))


CLOSE: dict[int, Callable[[Any], Any]] = {
    8: np.exp,
    9: np.exp2,
    10: lambda x: 10.0**x,
    11: np.log,
    12: np.log2,
    13: np.log10,
    14: np.sin,
    15: np.cos,
    16: lambda x: 1 / np.sqrt(x),
    17: np.tanh,
    20: np.exp,
}


@pytest.mark.parametrize("which", CLOSE)
def test_every_function_is_within_one_place_of_the_nearest_number(
    narrow: Any, name: str, which: int
) -> None:
    exact = CLOSE[which](values(name))
    got, expected = unary(narrow, name, which), rounded(name, exact)
    is_nan = np.isnan(values(name, expected))
    np.testing.assert_array_equal(np.isnan(values(name, got)), is_nan)
    apart = np.abs(got[~is_nan].astype(np.int32) - expected[~is_nan].astype(np.int32))
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.01


def operands(name: str) -> tuple[Any, Any, Any]:
    """Random bits, and numbers of one size, where halves and cancellations are frequent."""
    random = np.random.default_rng(7)
    anything = random.integers(0, 65536, (3, 1500)).astype(np.uint16)
    one = FORMATS[name].rounded(1.0)
    alike = (one + random.integers(-600, 600, (3, 1500))).astype(np.uint16)
    alike ^= (random.integers(0, 2, (3, 1500)) << 15).astype(np.uint16)
    # a b half way between two numbers, and c only just decides.
    tiny = random.integers(1, 40, 1500).astype(np.uint16)
    decided = np.stack([alike[0], alike[1], tiny ^ (alike[2] & 0x8000)])
    special = [0, 0x8000, 1, one, FORMATS[name].infinity, FORMATS[name].infinity | 0x8000, 0x7FFF]
    grid = np.array(np.meshgrid(special, special, special), np.uint16).reshape(3, -1)
    a, b, c = np.ascontiguousarray(np.concatenate([anything, alike, decided, grid], axis=1))
    return a, b, c


def exactly(function: Callable[..., Any], *numbers: float) -> Fraction | float:
    """By fractions where that is possible; by floats for zeros, infinities and NaN."""
    by_floats = float(function(*map(np.float64, numbers)))
    if not all(map(math.isfinite, numbers)):
        return by_floats
    try:
        exact = function(*map(Fraction, numbers))
    except ZeroDivisionError:
        return by_floats
    return exact if exact else by_floats


def clamped(value: Fraction | float) -> Fraction | float:
    return 0.0 if value != value or value <= 0 else min(value, Fraction(1))


def cut(value: Fraction | float) -> Fraction | float:
    return 0.0 if value <= 0 else value


def larger(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return max((a, b), key=lambda v: (v, math.copysign(1, v)))


def smaller(a: float, b: float) -> float:
    return -larger(-a, -b)


def with_nan(function: Callable[[float, float], float], a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else function(a, b)


def product_and_sum(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


TERNARY: dict[int, Callable[[float, float, float], Fraction | float]] = {
    0: lambda a, b, _: exactly(lambda x, y: x + y, a, b),
    1: lambda a, b, _: exactly(lambda x, y: x - y, a, b),
    2: lambda a, b, _: exactly(lambda x, y: x * y, a, b),
    3: lambda a, b, _: exactly(lambda x, y: x / y, a, b),
    4: lambda a, b, c: exactly(product_and_sum, a, b, c),
    5: lambda a, b, _: clamped(exactly(lambda x, y: x + y, a, b)),
    6: lambda a, b, c: clamped(exactly(product_and_sum, a, b, c)),
    7: lambda a, b, c: cut(exactly(product_and_sum, a, b, c)),
    8: lambda a, b, _: larger(a, b),
    9: lambda a, b, _: smaller(a, b),
    10: lambda a, b, _: with_nan(larger, a, b),
    11: lambda a, b, _: with_nan(smaller, a, b),
    12: lambda _, b, c: exactly(lambda x, y: x + y, b, c),
    13: lambda a, b, _: exactly(lambda x, y: x * y, a, b),
    14: lambda a, b, _: exactly(lambda x, y: x / y, a, b),
    15: lambda a, b, c: exactly(product_and_sum, a, b, c),
    17: lambda a, b, _: with_nan(larger, a, b),
    18: lambda a, b, _: exactly(lambda x, y: x - y, a, b),
    19: lambda a, b, _: exactly(lambda x, y: x + y, a, b),
    20: lambda a, b, _: exactly(lambda x, y: x * y, a, b),
    22: lambda a, b, _: clamped(exactly(lambda x, y: x - y, a, b)),
    23: lambda a, b, _: clamped(exactly(lambda x, y: x * y, a, b)),
    24: lambda a, b, c: clamped(exactly(product_and_sum, a, b, c)),
}


@pytest.mark.parametrize("which", TERNARY)
def test_arithmetic_rounds_the_exact_result_once(narrow: Any, name: str, which: int) -> None:
    a, b, c = operands(name)
    out = np.zeros_like(a)
    narrow(f"{name}_ternary", which, a, b, c, out, len(a))
    as_floats = (values(name, x).tolist() for x in (a, b, c))
    exact = [TERNARY[which](*numbers) for numbers in zip(*as_floats, strict=True)]
    assert_same(name, out, np.array([FORMATS[name].rounded(v) for v in exact], np.uint16))


def test_comparisons_treat_nan_as_their_names_say(narrow: Any, name: str) -> None:
    a, b, _ = operands(name)
    b = np.where(np.arange(len(a)) % 5 == 0, a, b)
    out = np.zeros((len(a), 4), np.int32)
    narrow(f"{name}_compare", a, b, out, len(a))
    x, y = values(name, a), values(name, b)
    ordered = [x < y, x <= y, x > y, x >= y, x == y, (x < y) | (x > y)]
    is_nan = np.isnan(x) | np.isnan(y)
    every = [*ordered, *(holds | is_nan for holds in ordered)]
    expected = sum(holds.astype(np.int32) << place for place, holds in enumerate(every))
    # Among the operators `!=` holds for NaN.
    operators = (expected & 0x1F) | (((x != y) | is_nan).astype(np.int32) << 5)
    np.testing.assert_array_equal(out[:, 0], expected)
    np.testing.assert_array_equal(out[:, 1], operators)
    np.testing.assert_array_equal(out[:, 2], expected)
    np.testing.assert_array_equal(out[:, 3], (x < y) | (x >= y).astype(np.int32) << 1)


WHOLE: Sequence[tuple[int, int, int]] = [
    # smallest, largest, what NaN becomes
    (-(2**15), 2**15 - 1, 0),
    (0, 2**16 - 1, 0),
    (-(2**31), 2**31 - 1, 0),
    (0, 2**32 - 1, 0),
    (-(2**63), 2**63 - 1, -(2**63)),
    (0, 2**64 - 1, 2**63),
]


def as_signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


@pytest.mark.parametrize("which", range(len(WHOLE)))
def test_every_number_becomes_whole_in_each_direction(narrow: Any, name: str, which: int) -> None:
    smallest, largest, of_nan = WHOLE[which]
    out = np.zeros((65536, 5), np.int64)
    narrow(f"{name}_to_whole", which, ALL, out, 65536)
    x = values(name)
    for column, function in enumerate((np.rint, np.trunc, np.floor, np.ceil, np.trunc)):
        whole = np.nan_to_num(function(x), nan=0.0)
        # float64 cannot hold the largest 64-bit numbers: those are put in by hand.
        is_large, is_small = whole >= float(largest), whole <= float(smallest)
        inside = np.where(is_large | is_small, 0.0, whole)
        expected = inside.astype(np.int64 if smallest else np.uint64).view(np.int64)
        expected = np.where(is_large, as_signed(largest), np.where(is_small, smallest, expected))
        expected = np.where(np.isnan(x), as_signed(of_nan), expected)
        np.testing.assert_array_equal(out[:, column], expected)


def test_every_number_becomes_a_byte_or_a_truth(narrow: Any, name: str) -> None:
    x, out = values(name), np.zeros(65536, np.int64)
    number = np.nan_to_num(x, nan=0.0)
    for which, expected in (
        (6, np.clip(np.trunc(number), -128, 127)),
        (7, np.clip(np.trunc(number), 0, 255)),
        (8, (x != 0)),
    ):
        narrow(f"{name}_to_whole", which, ALL, out, 65536)
        np.testing.assert_array_equal(out, expected.astype(np.int64))


@pytest.mark.parametrize("which", range(len(WHOLE)))
def test_whole_numbers_are_rounded_once_in_each_direction(
    narrow: Any, name: str, which: int
) -> None:
    smallest, largest, _ = WHOLE[which]
    near_powers = [
        2**k + d for k in range(65) for d in (-129, -65, -1, 0, 1, 2**k // 512, 2**k // 3)
    ]
    # Just above half way between two bfloat16s, by less than a float can tell.
    near_powers += [2**k + 2 ** (k - 8) + d for k in range(30, 64) for d in (-1, 0, 1)]
    numbers = [n for v in near_powers for n in (v, -v) if smallest <= n <= largest]
    x = np.array([as_signed(n) for n in numbers], np.int64)
    out = np.zeros((len(x), 5), np.uint16)
    narrow(f"{name}_from_whole", which, x, out, len(x))
    for column, direction in enumerate((*DIRECTIONS, NEAREST)):
        expected = [FORMATS[name].rounded(Fraction(n), direction) for n in numbers]
        np.testing.assert_array_equal(out[:, column], np.array(expected, np.uint16))


def test_reals_are_rounded_once_in_each_direction(narrow: Any, name: str) -> None:
    bits = np.random.default_rng(3).integers(0, 65536, 3000).astype(np.uint16)
    one = values(name, bits)
    other = values(name, bits + np.uint16(1))
    middle = (one + other) / 2
    x = np.concatenate([one, middle, middle * (1 + 2**-40), middle * (1 - 2**-40), one * 1.1])
    x = np.concatenate([x, [0.0, -0.0, 1e-30, -1e-30, 65519.0, 65520.0, -65520.0, 1e38, 3.4e38]])
    out = np.zeros((len(x), 5), np.uint16)
    narrow(f"{name}_from_real", x, out, len(x))
    floats = x.astype(np.float32).astype(np.float64)
    for column, direction in enumerate(DIRECTIONS):
        assert_same(name, out[:, column], rounded(name, floats, direction))
    assert_same(name, out[:, 4], rounded(name, x))


def test_pairs_come_apart_and_together_and_are_moved_and_added(narrow: Any, name: str) -> None:
    def as_bits(v: float) -> int:
        return FORMATS[name].rounded(v)

    x = np.zeros(1, np.uint16)
    y = np.array([as_bits(v) for v in (10, 11, 12, 13, 0, 0)], np.uint16)
    out = np.zeros(52, np.float32)
    narrow(f"{name}_pairs", x, y, out)
    pairs = [(1.5, 2.25), (4, 8), (1.5, 1.5), (2.25, 2.25), (1.5, 4), (2.25, 8), (2.25, 1.5)]
    pairs += [(2.25, 2.25), (7, 7), (2.25, 1.5), (4, 8), (1.5, 1.5), (10, 11), (12, 13)]
    pairs += [(4, 8), (1.5, 2.25)]
    bits = as_bits(1.5)
    expected = [v for pair in pairs for v in pair]
    expected += [0.5, 3.0, 1.5, 2.25, bits, bits - 32768, 2.25, 0]
    expected += [16, 1.5 + 32 * 0.25, 2.25 + 32, 2, 7, 1.5, 2.25, 5.5 * 2.25, 10.25 * 2.25, 1, 1, 0]
    stored = [FORMATS[name].value(as_bits(v)) for v in expected[47:49]]
    assert out.tolist() == [*expected[:47], *stored, *expected[49:]]


def test_one_type_converts_to_the_other_and_constants_have_their_values(narrow: Any) -> None:
    out = np.zeros(7, np.float32)
    narrow("mixed", out)
    assert out.tolist() == [3.140625, 3.140625, math.inf, 65504.0, 1.0, 1.0, 6.28125]
