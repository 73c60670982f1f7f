"""Atomics, packed integers, bits and vector types; see `programs/integers.cu`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def integers(program: Programs) -> Any:
    return program("integers.cu")


def test_atomics_of_every_type_lose_nothing(integers: Any) -> None:
    n = 1000
    i, u = np.zeros(12, np.int32), np.zeros(8, np.uint32)
    i[4], u[5] = -1, 99
    wide, signed = np.zeros(8, np.uint64), np.zeros(2, np.int64)
    wide[2] = wide[3] = 2**64 - 1
    f, d = np.zeros(4, np.float32), np.zeros(3, np.float64)
    h, v = np.zeros(8, np.uint16), np.zeros(8, np.float32)
    # 16-byte operations want 16-byte alignment.
    room = np.zeros(4, np.int64)
    w = room[room.ctypes.data % 16 // 8 :][:2]
    v = np.zeros(12, np.float32)
    v = v[-(v.ctypes.data // 4) % 4 :][:8]
    c = np.zeros(1, np.uint16)
    integers("atomics", i, u, wide, signed, f, d, h, v, w, c, n)
    exclusive = 0
    for t in range(n):
        exclusive ^= t
    assert i[:10].tolist() == [2 * n, -n, n - 1, 1 - n, -(2**31), 2**31 - 1, exclusive, 3, n, n]
    assert 0 <= i[10] < n
    down = 0
    for _ in range(n):
        down = 6 if down == 0 or down > 6 else down - 1
    assert u[:7].tolist() == [n, n % 7, down, 2**32 - 2 * n, 7, 5, 9]
    assert wide[:7].tolist() == [3 * n, 2**40, 0, 2**64 - 256, 2**64 - 1, 0, 8]
    assert signed.tolist() == [-(n - 1) << 33, (n - 1) << 33]
    assert f.tolist() == [n / 2, 776, n, 7]
    assert d.tolist() == [n / 4, n / 8, n]
    assert h[:3].view(np.float16).tolist() == [64, 32, 128]
    assert (h[4:7].astype(np.uint32) << 16).view(np.float32).tolist() == [128, 64, 64]
    assert v[:6].tolist() == [n, 2 * n, 3 * n, 4 * n, 5 * n, 6 * n]
    assert w.tolist() == [n, n * (n - 1) // 2]
    assert c[0] == n


def test_atomics_give_the_old_value_back(integers: Any) -> None:
    out = np.zeros(11, np.int64)
    integers("old_values", np.array([10], np.int32), out)
    assert out.tolist() == [10, 15, 14, 100, 100, 7, 8, 8, 24, 16, 17]


def limited(v: Any, low: int, high: int) -> Any:
    return np.clip(v, low, high)


BINARY: list[tuple[str, Callable[[Any, Any, int, int], Any]]] = [
    ("u", lambda a, b, _l, _h: a + b),
    ("s", lambda a, b, low, high: limited(a + b, low, high)),
    ("u", lambda a, b, low, high: limited(a + b, low, high)),
    ("u", lambda a, b, _l, _h: a - b),
    ("s", lambda a, b, low, high: limited(a - b, low, high)),
    ("u", lambda a, b, low, high: limited(a - b, low, high)),
    ("s", lambda a, b, _l, _h: np.abs(a - b)),
    ("u", lambda a, b, _l, _h: np.abs(a - b)),
    ("s", lambda a, b, _l, _h: (a + b + (a + b >= 0)) >> 1),
    ("u", lambda a, b, _l, _h: (a + b + 1) >> 1),
    ("u", lambda a, b, _l, _h: (a + b) >> 1),
    ("s", lambda a, b, _l, _h: np.maximum(a, b)),
    ("u", lambda a, b, _l, _h: np.maximum(a, b)),
    ("s", lambda a, b, _l, _h: np.minimum(a, b)),
    ("u", lambda a, b, _l, _h: np.minimum(a, b)),
]
# Kind, size of a part, what holds, and what a place becomes where it does.
COMPARISONS: list[tuple[str, int, Callable[[Any, Any], Any], int]] = [
    ("u", 16, lambda a, b: a == b, -1),
    ("u", 8, lambda a, b: a == b, -1),
    ("u", 8, lambda a, b: a != b, -1),
    ("s", 16, lambda a, b: a >= b, -1),
    ("u", 8, lambda a, b: a >= b, -1),
    ("s", 8, lambda a, b: a > b, -1),
    ("u", 16, lambda a, b: a > b, -1),
    ("s", 8, lambda a, b: a <= b, -1),
    ("u", 16, lambda a, b: a <= b, -1),
    ("s", 16, lambda a, b: a < b, -1),
    ("u", 8, lambda a, b: a < b, -1),
    ("u", 8, lambda a, b: a == b, 1),
    ("u", 16, lambda a, b: a != b, 1),
    ("s", 8, lambda a, b: a >= b, 1),
    ("u", 16, lambda a, b: a > b, 1),
    ("s", 16, lambda a, b: a < b, 1),
]


def parts(words: Any, kind: str, bits: int) -> Any:
    """The numbers in each word, widened."""
    types = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16}
    return words.view(types[f"{kind}{bits}"]).astype(np.int64).reshape(len(words), -1)


def joined(numbers: Any, bits: int) -> Any:
    return numbers.astype({8: np.uint8, 16: np.uint16}[bits]).view(np.uint32).ravel()


def test_packed_integers_are_computed_place_by_place(integers: Any) -> None:
    random = np.random.default_rng(4)
    a, b = random.integers(0, 2**32, (2, 600)).astype(np.uint32)
    b[::3] = a[::3] ^ (b[::3] & 0x00010080)
    a[:4], b[:4] = [0x80008000, 0x80808080, 0xFFFFFFFF, 0], [0x80008000, 0x80808080, 1, 0]
    out = np.zeros((600, 54), np.uint32)
    integers("packed", a, b, out, 600)
    column = iter(out.T)

    def both(kind: str, bits: int) -> tuple[Any, Any]:
        return parts(a, kind, bits), parts(b, kind, bits)

    for kind, function in BINARY:
        for bits in (16, 8):
            low, high = (
                (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            )
            expected = joined(function(*both(kind, bits), low, high), bits)
            np.testing.assert_array_equal(next(column), expected)
    for kind, bits, holds, value in COMPARISONS:
        expected = joined(holds(*both(kind, bits)) * np.int64(value), bits)
        np.testing.assert_array_equal(next(column), expected)
    for kind in ("s", "u"):
        for bits in (16, 8):
            x, y = both(kind, bits)
            np.testing.assert_array_equal(next(column), np.abs(x - y).sum(1))
    halves, bytes_ = parts(a, "s", 16), parts(a, "s", 8)
    np.testing.assert_array_equal(next(column), joined(np.abs(halves), 16))
    np.testing.assert_array_equal(next(column), joined(np.minimum(np.abs(bytes_), 127), 8))
    np.testing.assert_array_equal(next(column), joined(-bytes_, 8))
    np.testing.assert_array_equal(next(column), joined(np.minimum(-halves, 32767), 16))


def test_bits_dot_products_and_vector_types(integers: Any) -> None:
    out = np.zeros(47, np.int64)
    integers("facts", out)
    word = 2**32
    expected = [
        *(3, 0, 7, 9, 0x07050301, 8),
        *(63, 41, 64, -15, 15, -1, 1, 3),
        *(2**30, 3, 2**31, 3, word - 1, 7),
        # 1 * 2 + -1 * 3 + 2 * 4 + -2 * 5 + 10, and without signs
        *(7, 2 + 255 * 3 + 2 * 4 + 254 * 5 + 10),
        # -1 * 4 + 3 * 3 + 5 and -1 * 2 + 3 * 1 + 5
        *(10, 6, 3, 2, 2, 0xFFFFFFFF),
        *(-9, 9, 0, 0x00020001),
        *(3, 1, 0x00010003, 10, 0x00000003),
        *(0x04030201, 0x3FF00000, 6),
        3 + 5 + 255 - 1 + 7 + 6 + 6,
        12 * 10000 + 16 * 100 + 16,
        2 * 1000 + 8 * 100 + 80 + 4,
        3200 + 32,
        12 + 400 + 16000,
    ]
    assert [int(v) for v in out[: len(expected)]] == expected


@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_copies_in_the_background_arrive_and_fill_up_with_zeros(integers: Any, tiles: int) -> None:
    x = np.arange(tiles * 128, dtype=np.float32)
    room = np.zeros(tiles * 128 + 4, np.float32)
    aligned = room[-(room.ctypes.data // 4) % 4 :][: tiles * 128]
    aligned[:] = x
    out = np.zeros(32, np.float32)
    integers("pipeline", aligned, out, tiles)
    tile = x.reshape(tiles, 32, 4)[:, ::-1].copy()
    tile[1:, :, 3] = 0
    np.testing.assert_array_equal(out, tile.sum((0, 2)))


def test_loads_and_stores_with_hints_are_loads_and_stores(integers: Any) -> None:
    room = np.zeros(264, np.int32)
    x = room[-(room.ctypes.data // 4) % 4 :][:128]
    x[:] = np.arange(128)
    y_room = np.zeros(264, np.int32)
    y = y_room[-(y_room.ctypes.data // 4) % 4 :][:128]
    d, e = np.arange(32.0), np.zeros(64)
    integers("hints", x, y, d, e)
    expected = x.reshape(32, 4) * [2, 1, 1, 2]
    np.testing.assert_array_equal(y.reshape(32, 4), expected)
    np.testing.assert_array_equal(e, [*(d + 1), *([2] * 32)])
