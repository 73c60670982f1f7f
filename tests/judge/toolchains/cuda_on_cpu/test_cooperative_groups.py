"""Cooperative groups within a block, by hand; see `programs/groups.cu`."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def groups(program: Programs) -> Any:
    return program("groups.cu")


def whole(n: int, *, high: int = 50) -> Any:
    return np.random.default_rng(n).integers(1, high, n).astype(np.int32)


def test_every_group_knows_its_size_and_ranks(groups: Any) -> None:
    out = np.zeros((48, 8), np.int32)
    groups("ranks", out)
    for t, row in enumerate(out.tolist()):
        dynamic_size = 32 if t < 32 else 16
        assert row == [
            4800,
            t // 8 * 100 + 8,
            t // 16 * 100 + 3,
            t % 16 * 100 + 16,
            t % 16 // 4 * 100 + 4,
            t % 4 * 100 + t % 16 // 4,
            t % 32 * 100 + dynamic_size,
            t % 16 * 100 + 48,
        ]


def packed(flags: Any) -> int:
    return sum(1 << rank for rank, flag in enumerate(flags) if flag)


def test_a_tile_exchanges_and_votes_among_its_own_threads(groups: Any) -> None:
    x, out = whole(64), np.zeros((64, 10), np.int32)
    groups("tile", x, out)
    for t, row in enumerate(out.tolist()):
        tile, rank = x[t // 8 * 8 : t // 8 * 8 + 8], t % 8
        assert row == [
            tile[3],
            tile[rank - 2 if rank >= 2 else rank],
            tile[rank + 3 if rank < 5 else rank],
            tile[rank ^ 5],
            (tile > 40).any() * 10 + (tile > 2).all(),
            packed(tile & 1),
            packed((tile & 3) == (tile[rank] & 3)),
            255 + 1000,
            int(tile[6] * 2.5 + 1),
            tile[1],
        ]


def test_a_tile_reduces_and_scans(groups: Any) -> None:
    x, out = whole(64), np.zeros((64, 8), np.int32)
    groups("reduce", x, out)
    for t, row in enumerate(out.tolist()):
        tile, rank = x[t // 16 * 16 : t // 16 * 16 + 16], t % 16
        assert row == [
            tile.sum(),
            tile.min(),
            tile.max(),
            reduce(lambda a, b: a ^ b, tile.tolist()),
            tile[: rank + 1].sum(),
            tile[:rank].sum(),
            tile[: rank + 1].max(),
            int(tile.sum() / 2),
        ]


def test_threads_that_met_are_a_group_in_the_order_of_their_lanes(groups: Any) -> None:
    x, out = whole(64), np.full((64, 12), -1, np.int32)
    groups("coalesced", x, out)
    for warp in range(2):
        lanes = [t for t in range(warp * 32, warp * 32 + 32) if x[t] & 1]
        group = x[lanes]
        size = len(lanes)
        assert size > 8
        for rank, t in enumerate(lanes):
            v, first = x[t], rank // 4 * 4
            part = group[first : first + 4]
            assert out[t].tolist() == [
                rank * 100 + size,
                group.sum(),
                group[: rank + 1].sum(),
                group[:rank].sum(),
                group[-1],
                group[rank - 2 if rank >= 2 else rank],
                group[min(rank + 1, size - 1)],
                packed(group > 25),
                (group == 1).any() * 10 + 1,
                rank % 4 * 1000 + len(part) * 100 + first // 4 * 10 + (size + 3) // 4,
                part.max(),
                packed(group % 3 == v % 3),
            ]
    assert (out[x % 2 == 0] == -1).all()


def test_a_tile_is_divided_by_a_label_or_a_predicate(groups: Any) -> None:
    x, out = whole(64), np.zeros((64, 6), np.int32)
    groups("partition", x, out)
    for t, row in enumerate(out.tolist()):
        tile, lane = x[t // 32 * 32 : t // 32 * 32 + 32], t % 32
        labels = (tile % 5).tolist()
        same = tile[tile % 5 == x[t] % 5]
        side = tile[(tile > 20) == (x[t] > 20)]
        order = list(dict.fromkeys(labels))
        assert row == [
            len(same) * 100 + labels[:lane].count(labels[lane]),
            order.index(labels[lane]) * 100 + len(order),
            same.sum(),
            len(side) * 100 + (x[t] > 20) * 10 + 2,
            side.sum(),
            len(same) + labels[lane],
        ]


def test_one_atomic_operation_serves_all_threads_that_met(groups: Any) -> None:
    x = np.random.default_rng(1).integers(-9, 10, 5000).astype(np.int32)
    out, counter = np.zeros(5000, np.int32), np.zeros(1, np.int32)
    groups("filter", x, out, counter, 5000)
    kept = x[x > 0]
    assert counter[0] == len(kept)
    np.testing.assert_array_equal(np.sort(out[: len(kept)]), np.sort(kept))


@pytest.mark.parametrize("n", [1, 37, 256])
def test_a_block_copies_to_shared_memory_and_waits(groups: Any, n: int) -> None:
    x, y = np.arange(n, dtype=np.float32), np.zeros(2 * n + 1, np.float32)
    groups("copy", x, y, n)
    assert y.tolist() == [*x[::-1].tolist(), *x.tolist(), 5.0]


def test_a_function_takes_any_group(groups: Any) -> None:
    x, out = whole(128), np.zeros(9, np.int32)
    groups("any_group", x, out)
    assert out.tolist() == [x.sum(), *x.reshape(8, 16).sum(1).tolist()]
