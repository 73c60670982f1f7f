"""CUB's block and warp primitives, against numpy; see `programs/cub.cu`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cuda_gym.errors import UnsupportedOnDevice

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def cub(program: Programs) -> Any:
    return program("cub.cu")


def whole(n: int, *, low: int = 0, high: int = 50) -> Any:
    return np.random.default_rng(n).integers(low, high, n).astype(np.int32)


@pytest.mark.parametrize("n", [1, 33, 128])
def test_a_block_reduces_one_or_several_items_a_thread(cub: Any, n: int) -> None:
    x = np.random.default_rng(n).integers(-50, 50, 256).astype(np.float32)
    out = np.zeros((2, 4), np.float32)
    cub("block_reduce", x, out, n)
    for row, v in zip(out, x.reshape(2, 128), strict=True):
        assert row.tolist() == [v.sum(), v.max(), v[:n].sum(), 128 + 2 * v.sum()]


def test_a_block_of_two_dimensions_reduces_structs_by_an_operator_of_the_program(cub: Any) -> None:
    x, out = whole(128), np.zeros(2, np.int32)
    cub("block_reduce_2d", x, out)
    assert out.tolist() == [x.max(), x.argmax()]


def test_a_block_scans_with_aggregates_initial_values_and_callbacks(cub: Any) -> None:
    x, out = whole(128, low=-30), np.zeros((10, 128), np.int32)
    cub("block_scan", x, out)
    inclusive, exclusive, total = x.cumsum(), x.cumsum() - x, x.sum()
    before = np.concatenate(([-5], np.minimum(np.minimum.accumulate(x)[:-1], -5)))
    expected = [
        inclusive,
        exclusive,
        np.full(128, total),
        np.maximum.accumulate(x) + 1000 * x.max(),
        before,
        exclusive + 100 + total,
        inclusive + 100 + 2 * total,
        exclusive,
        exclusive + 7,
        np.full(128, total),
    ]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n", [512, 301])
def test_a_block_scans_consecutive_items_that_it_has_loaded(cub: Any, n: int) -> None:
    x = whole(n)
    inclusive, exclusive, all_ = np.full(512, -1, np.int32), np.full(512, -1, np.int32), np.zeros(2)
    all_ = all_.astype(np.int32)
    cub("block_scan_items", x, inclusive, exclusive, all_, n)
    np.testing.assert_array_equal(inclusive[:n], x.cumsum())
    np.testing.assert_array_equal(exclusive[:n], x.cumsum() - x)
    assert (inclusive[n:] == -1).all()
    assert (exclusive[n:] == -1).all()
    assert all_.tolist() == [x.sum(), 10 + x[:7].sum()]


def test_striped_items_are_as_far_apart_as_the_block_is_large(cub: Any) -> None:
    x, out = whole(96), np.zeros(96, np.int32)
    cub("striped", x, out)
    np.testing.assert_array_equal(out.reshape(32, 3), x.reshape(3, 32).T)


def segments(values: list[int], *, tails: bool) -> Iterator[tuple[int, int]]:
    """(place of the first, sum) of each run that a flag begins, or ends."""
    start = 0
    for i, v in enumerate(values):
        if not tails and v % 3 == 0 and i > start:
            yield start, sum(values[start:i])
            start = i
        if tails and v % 3 == 0:
            yield start, sum(values[start : i + 1])
            start = i + 1
    if start < len(values):
        yield start, sum(values[start:])


@pytest.mark.parametrize("width", [32, 8])
def test_logical_warps_reduce_and_scan(cub: Any, width: int) -> None:
    x, out = whole(64), np.zeros((10, 64), np.int32)
    cub(f"warps_of_{width}", x, out)
    rows = x.reshape(-1, width)
    by_warp = out.reshape(10, -1, width)
    np.testing.assert_array_equal(by_warp[0, :, 0], rows.sum(1))
    np.testing.assert_array_equal(by_warp[1, :, 0], rows[:, : width // 2 + 1].max(1))
    for warp, row in enumerate(rows.tolist()):
        for which, tails in ((2, False), (3, True)):
            for first, total in segments(row, tails=tails):
                assert by_warp[which, warp, first] == total
    inclusive = rows.cumsum(1)
    np.testing.assert_array_equal(by_warp[4], inclusive)
    np.testing.assert_array_equal(by_warp[5], np.repeat(inclusive[:, -1:], width, 1))
    np.testing.assert_array_equal(by_warp[6], inclusive - rows)
    before = np.maximum.accumulate(rows, 1)[:, :-1]
    np.testing.assert_array_equal(by_warp[7, :, 1:], before)
    assert (by_warp[7, :, 0] == -1).all()
    np.testing.assert_array_equal(by_warp[8], np.minimum.accumulate(rows, 1))
    np.testing.assert_array_equal(by_warp[9], np.repeat(rows[:, -1:], width, 1))


def test_a_warp_reduces_values_larger_than_a_shuffle(cub: Any) -> None:
    x, out = np.arange(32) * 0.5, np.zeros(2)
    cub("moments", x, out)
    assert out.tolist() == [x.sum(), (x * x).sum()]


@pytest.mark.parametrize(
    "line", ["#include <cub/device/device_reduce.cuh>", "void f() { cub::DeviceReduce::Sum(); }"]
)
def test_the_rest_of_cub_is_refused_by_name(compile_source: Programs, line: str) -> None:
    with pytest.raises(UnsupportedOnDevice, match=r"kernels/k\.cu:1: this part of CUB"):
        compile_source(line)
