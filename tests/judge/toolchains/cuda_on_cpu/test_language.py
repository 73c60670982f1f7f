"""CUDA programs give the numbers that they give on a GPU; see `programs/`."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Programs = Callable[..., Any]


@pytest.fixture(scope="module")
def loops(program: Programs) -> Any:
    return program("loops.cu", "loops_too.cu", "shared_header.cuh")


@pytest.fixture(scope="module")
def blocks(program: Programs) -> Any:
    return program("blocks.cu")


@pytest.fixture(scope="module")
def warps(program: Programs) -> Any:
    return program("warps.cu")


@pytest.fixture(scope="module")
def narrow(program: Programs) -> Any:
    return program("narrow.cu")


def floats(n: int, *, low: float = -3.0, high: float = 3.0) -> Any:
    return np.random.default_rng(n).uniform(low, high, n).astype(np.float32)


def whole(n: int, *, low: int = -40, high: int = 40) -> Any:
    return np.random.default_rng(n).integers(low, high, n).astype(np.int32)


# Threads that do not wait


@pytest.mark.parametrize("launcher", ["add", "add_by_macro"])
@pytest.mark.parametrize("n", [1, 255, 256, 10007])
def test_one_thread_an_element_adds(loops: Any, launcher: str, n: int) -> None:
    a, b, c = floats(n), floats(n + 1)[:n], np.full(n + 8, -7, np.float32)
    loops(launcher, a, b, c, n, None)
    np.testing.assert_array_equal(c[:n], a + b)
    assert (c[n:] == -7).all()


def test_float4_moves_four_numbers_at_once(loops: Any) -> None:
    a, b, c = floats(400), floats(404)[:400], np.zeros(400, np.float32)
    loops("add4", a, b, c, 100)
    np.testing.assert_array_equal(c, a + b)


def test_kernel_templates_are_instantiated_by_name_and_by_pointer(loops: Any) -> None:
    x, y = whole(1000), np.arange(777, dtype=np.float64)
    scaled = x.copy()
    loops("scale_int", scaled, ctypes.c_size_t(1000))
    loops("scale_double", y, ctypes.c_size_t(777))
    np.testing.assert_array_equal(scaled, x * 3)
    np.testing.assert_array_equal(y, np.arange(777) * 2.0)


def test_every_thread_of_a_3d_grid_knows_where_it_is(loops: Any) -> None:
    out = np.zeros(2 * 3 * 4 * 30, np.int32)
    loops("where", out)
    expected = [
        int(f"{bz}{by}{bx}{tz}{ty}{tx}")
        for bz in range(4)
        for by in range(3)
        for bx in range(2)
        for tz in range(5)
        for ty in range(2)
        for tx in range(3)
    ]
    assert out.tolist() == expected


def test_constant_memory_is_written_by_the_host(loops: Any) -> None:
    x, y = floats(100), np.zeros(100, np.float32)
    assert loops("polynomial", x, y, 100) == 0
    np.testing.assert_allclose(y, 1 + x * (2 + x * 3), rtol=1e-5, atol=1e-6)


def test_device_variables_are_counted_up_and_read_back(loops: Any) -> None:
    x, total = whole(5000), np.zeros(1, np.uint64)
    assert loops("count_positive", x, 5000, total) == (x > 0).sum()
    assert total[0] == 5 + x[x > 0].sum()


SIGMOID = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
FUNCTIONS: dict[int, tuple[Callable[[Any], Any], float]] = {
    0: (np.exp, -3),
    1: (np.exp, -3),
    2: (np.exp, -3),
    3: (np.tanh, -3),
    4: (np.vectorize(math.erf), -3),
    5: (np.log, 0.01),
    6: (np.log1p, -0.9),
    7: (np.expm1, -3),
    8: (lambda x: x**-0.5, 0.01),
    9: (lambda x: np.sin(x) + np.cos(x), -3),
    10: (lambda x: np.abs(x) ** 1.5, -3),
    11: (
        lambda x: np.maximum(x, 0.5) + np.minimum(x, 0.25) + np.maximum(x, 1) + np.minimum(x, 2),
        -3,
    ),
    12: (lambda x: np.exp2(x) + np.log2(x) + np.log10(x), 0.01),
    13: (lambda x: np.exp(x) + np.tanh(x) + np.vectorize(math.erf)(x) + np.sqrt(x), 0.01),
    14: (SIGMOID, -3),
    15: (SIGMOID, -3),
}


@pytest.mark.parametrize("which", FUNCTIONS)
def test_mathematical_functions_agree_with_double_precision(loops: Any, which: int) -> None:
    function, low = FUNCTIONS[which]
    x, y = floats(2000, low=low), np.zeros(2000, np.float32)
    loops("activate", x, y, 2000, which)
    np.testing.assert_allclose(y, function(x.astype(np.float64)), rtol=1e-6, atol=3e-7)


@pytest.mark.parametrize(
    ("which", "x", "expected"),
    [
        (0, [np.inf, -np.inf, np.nan, 200, -200, 0], [np.inf, 0, np.nan, np.inf, 0, 1]),
        (3, [np.inf, -np.inf, np.nan, 50, -50, 0], [1, -1, np.nan, 1, -1, 0]),
        (4, [np.inf, -np.inf, np.nan, 50, -50, 0], [1, -1, np.nan, 1, -1, 0]),
        (
            5,
            [np.inf, -1, np.nan, 0, 1, 1e-44],
            [np.inf, np.nan, np.nan, -np.inf, 0, math.log(1e-44)],
        ),
        (6, [np.inf, -1, np.nan, 0, -2, 1e-20], [np.inf, -np.inf, np.nan, 0, np.nan, 1e-20]),
        (7, [np.inf, -np.inf, np.nan, 200, 0, 1e-20], [np.inf, -1, np.nan, np.inf, 0, 1e-20]),
    ],
)
def test_infinities_and_nan_come_out_as_they_should(
    loops: Any, which: int, x: list[float], expected: list[float]
) -> None:
    y = np.zeros(6, np.float32)
    loops("activate", np.array(x, np.float32), y, 6, which)
    np.testing.assert_allclose(y, np.array(expected), rtol=2e-3)


def test_fmaxf_and_fminf_drop_nan(loops: Any) -> None:
    y = np.zeros(1, np.float32)
    loops("activate", np.array([np.nan], np.float32), y, 1, 11)
    assert y[0] == 0.5 + 0.25 + 1 + 2


def test_bit_intrinsics(loops: Any) -> None:
    x, y = np.array([0, 1, -1, 12345, -(2**30)], np.int32), np.zeros(40, np.int32)
    loops("bits", x, y, 5)
    for value, row in zip(x.tolist(), y.reshape(5, 8).tolist(), strict=True):
        unsigned = value & 0xFFFFFFFF
        signed_bytes = unsigned.to_bytes(4, "little")
        assert row[0] == unsigned.bit_count()
        assert row[1] == 32 - unsigned.bit_length()
        assert row[2] == (unsigned & -unsigned).bit_length()
        assert row[3] & 0xFFFFFFFF == int(f"{unsigned:032b}"[::-1], 2)
        assert row[4] == value
        assert row[5] == value * value >> 32
        assert row[6] == max(-(2**31), min(2**31 - 1, value * 10**6))
        assert (
            row[7]
            == min(value, 3)
            + max(value, 5)
            + sum(b - 256 if b > 127 else b for b in signed_bytes)
            + 7
        )


def test_atomics_lose_nothing(loops: Any) -> None:
    x = whole(20000)
    bins, sums = np.zeros(8, np.int32), np.zeros(8, np.float32)
    dsums, facts = np.zeros(8, np.float64), np.zeros(5, np.int32)
    loops("histogram", x, bins, sums, dsums, facts, 20000)
    by_bin = [x[(x & 7) == b] for b in range(8)]
    assert bins.tolist() == [len(b) for b in by_bin]
    np.testing.assert_array_equal(sums, [0.5 * b.sum() for b in by_bin])
    np.testing.assert_array_equal(dsums, [0.25 * b.sum() for b in by_bin])
    assert facts.tolist() == [x.max(), x.min(), 255, 20000, 20000 % 10]


def test_kernels_and_launchers_made_by_a_macro(loops: Any) -> None:
    x, y = floats(100), np.zeros(100, np.float32)
    loops("square", x, y, 100)
    np.testing.assert_array_equal(y, x * x)
    loops("negate", x, y, 100)
    np.testing.assert_array_equal(y, -x)


def test_a_kernel_in_a_namespace_takes_null(loops: Any) -> None:
    x = np.zeros(9, np.float32)
    loops("fill", x, 9)
    assert (x == 7).all()


def test_functors_and_device_lambdas_are_arguments(loops: Any) -> None:
    x = np.arange(10, dtype=np.float32)
    loops("apply_plus", x, 10)
    np.testing.assert_array_equal(x, (np.arange(10) + 2) * 10)


def test_files_share_declared_kernels_and_keep_their_own_functions(loops: Any) -> None:
    x = np.zeros(2, np.int32)
    loops("both_files", x)
    assert x.tolist() == [42, 43]


# Threads that wait for their block


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (16, 16), (37, 50)])
def test_a_transpose_through_a_shared_tile(blocks: Any, rows: int, columns: int) -> None:
    x, y = floats(rows * columns).reshape(rows, columns), np.zeros((columns, rows), np.float32)
    blocks("transpose", x, y, rows, columns)
    np.testing.assert_array_equal(y, x.T)


def test_dynamic_shared_memory_at_namespace_scope(blocks: Any) -> None:
    x, y = whole(640).astype(np.float32), np.zeros(10, np.float32)
    blocks("row_sums", x, y, 10, 64)
    np.testing.assert_array_equal(y, x.reshape(10, 64).sum(1))


def test_dynamic_shared_memory_in_a_template(blocks: Any) -> None:
    x, y = np.arange(100, dtype=np.float64), np.zeros(100)
    blocks("reversed", x, y, 100)
    np.testing.assert_array_equal(y, x[::-1])


def test_a_barrier_counts_votes(blocks: Any) -> None:
    x, y = whole(97), np.zeros(97, np.int32)
    blocks("votes", x, y, 97)
    assert set(y.tolist()) == {int((x > 0).sum() * 100 + (x != 0).all() * 10 + (x == 7).any())}


@pytest.mark.parametrize("n", [1, 32, 200, 256])
def test_threads_that_have_returned_hold_up_no_barrier(blocks: Any, n: int) -> None:
    x, y = whole(256), np.full(256, -7, np.int32)
    blocks("early_exit", x, y, n)
    assert y.tolist() == (2 * x[:n][::-1]).tolist() + [-7] * (256 - n)


def test_the_last_block_sees_what_the_others_wrote(blocks: Any) -> None:
    x, y = whole(30000).astype(np.float32), np.zeros(1, np.float32)
    for _ in range(3):
        blocks("sum", x, np.zeros(20, np.float32), y, 30000)
        assert y[0] == x.sum()


def test_threads_of_a_block_may_fight_for_a_lock(blocks: Any) -> None:
    assert blocks("with_lock", 3, 40, 5) == 3 * 40 * 5


def test_a_block_may_wait_for_an_earlier_one(blocks: Any) -> None:
    flags = np.zeros(50, np.int32)
    blocks("chain", flags, 50)
    assert flags.tolist() == list(range(1, 51))


# Lanes that exchange values


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (9, 1000)])
def test_softmax_by_shuffles(warps: Any, rows: int, columns: int) -> None:
    x, y = floats(rows * columns).reshape(rows, columns) * 10, np.zeros((rows, columns), np.float32)
    warps("softmax", x, y, rows, columns)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=3e-6)


def test_each_warp_operation_does_what_its_name_says(warps: Any) -> None:
    n = 96
    x, y = whole(n), np.zeros((10, n), np.int32)
    warps("shuffles", x, y, n)
    warp = x.reshape(3, 32)
    lane = np.arange(32)
    by_warp = y.reshape(10, 3, 32)
    np.testing.assert_array_equal(by_warp[0], warp[:, [3] * 32])
    np.testing.assert_array_equal(by_warp[1], warp[:, np.where(lane >= 2, lane - 2, lane)])
    np.testing.assert_array_equal(by_warp[2], warp[:, np.where(lane % 8 < 6, lane + 2, lane)])
    np.testing.assert_array_equal(by_warp[3], warp[:, lane ^ 1])
    rotated = warp[:, lane // 4 * 4 + (lane + 1) % 4]
    np.testing.assert_array_equal(by_warp[4], np.trunc(rotated * 0.5))
    votes = ((warp > 0).astype(np.uint64) << lane.astype(np.uint64)).sum(1).astype(np.uint32)
    np.testing.assert_array_equal(by_warp[5].view(np.uint32), np.repeat(votes[:, None], 32, 1))
    np.testing.assert_array_equal(by_warp[6][:, 0], (warp == 9).any(1) * 2 + 1)
    equal = (warp[:, :, None] & 3) == (warp[:, None, :] & 3)
    bits = (equal.astype(np.uint64) << lane.astype(np.uint64)).sum(2).astype(np.uint32)
    np.testing.assert_array_equal(by_warp[7].view(np.uint32), bits)
    combined = warp.sum(1) * 1000 + warp.max(1) * 10 - warp.min(1)
    np.testing.assert_array_equal(by_warp[8], np.repeat(combined[:, None], 32, 1))
    assert (by_warp[9] == 1).all()


def test_a_warp_that_is_not_full_exchanges_among_those_who_are_there(warps: Any) -> None:
    x, y = whole(40), np.zeros((10, 40), np.int32)
    warps("shuffles", x, y, 40)
    np.testing.assert_array_equal(y[0], [x[3]] * 32 + [x[35]] * 8)
    np.testing.assert_array_equal(y[3], x[np.arange(40) ^ 1])


def test_two_halves_of_a_warp_do_not_disturb_each_other(warps: Any) -> None:
    x, y = whole(64), np.zeros(64, np.int32)
    warps("halves", x, y)
    expected: list[int] = []
    for w in (x[:32], x[32:]):
        expected += [int(w[:16].sum())] * 16
        expected += [int(max(w[16 + i], w[16 + (i ^ 8)])) for i in range(16)]
    assert y.tolist() == expected


def test_warps_may_take_different_numbers_of_steps_between_barriers(warps: Any) -> None:
    x, y = whole(128), np.zeros(128, np.int32)
    warps("uneven", x, y)
    v = x.copy()
    for _ in range(3):
        for w in range(4):
            for k in range(w + 1):
                part = v[w * 32 : w * 32 + 32]
                v[w * 32 : w * 32 + 32] = part + part[np.arange(32) ^ (1 << k)]
        v = np.roll(v, -32)
    np.testing.assert_array_equal(y, v)


def test_lanes_that_are_active_together_share_one_atomic(warps: Any) -> None:
    x, y, counter = whole(500), np.zeros(500, np.int32), np.zeros(1, np.int32)
    warps("compact", x, y, counter, 500)
    positive = x[x > 0]
    assert counter[0] == len(positive)
    assert sorted(y[: len(positive)]) == sorted(positive)


def test_all_lanes_of_a_warp_are_active_where_none_has_branched(warps: Any) -> None:
    y = np.zeros(40, np.int32)
    warps("full_active_mask", y, 40)
    assert y.view(np.uint32).tolist() == [0xFFFFFFFF] * 32 + [0xFF] * 8


def test_cooperative_groups_of_a_block_and_of_tiles(warps: Any) -> None:
    n = 96
    x, y = whole(n), np.zeros((6, n), np.int32)
    warps("groups", x, y, n)
    tiles = x.reshape(-1, 8)
    t = np.arange(n)
    np.testing.assert_array_equal(y[0], np.repeat(tiles.sum(1), 8)[::-1])
    np.testing.assert_array_equal(y[1], x[t // 32 * 32 + 3] + t // 32 * 1000)
    np.testing.assert_array_equal(y[2], np.repeat(tiles.max(1), 8))
    ballots = ((tiles > 0) << np.arange(8)).sum(1)
    expected = np.repeat(ballots * 10 + (tiles == 9).any(1), 8) + t % 8 * 10000
    np.testing.assert_array_equal(y[3], expected)
    np.testing.assert_array_equal(y[4], t)
    positive = x.reshape(-1, 32) > 0
    rank = positive.cumsum(1) - 1
    together = np.where(positive, positive.sum(1, keepdims=True) * 100 + rank, 0)
    np.testing.assert_array_equal(y[5], together.reshape(-1))


# Sixteen bits


def test_half_rounds_after_each_operation(narrow: Any) -> None:
    a, b = floats(500).astype(np.float16), floats(501)[:500].astype(np.float16)
    out = np.zeros(500, np.float16)
    narrow("half_fma", a, b, out, 500)
    fused = (a.astype(np.float64) * b.astype(np.float64) + 1).astype(np.float16)
    power = np.exp(b.astype(np.float32)).astype(np.float16)
    np.testing.assert_allclose(out, fused + power, rtol=1e-3)


def test_half2_works_on_pairs(narrow: Any) -> None:
    a, out = floats(200).astype(np.float16), np.zeros(200, np.float16)
    narrow("half2_square", a, out, 100)
    square = (a * a).astype(np.float32)
    square[::2] += 1
    np.testing.assert_array_equal(out, square.astype(np.float16))


def test_bfloat16_rounds_to_nearest_even(narrow: Any) -> None:
    x = np.concatenate(
        [floats(1000), np.array([np.inf, -np.inf, 1.00390625, 1.01171875], np.float32)]
    )
    bits, wide = np.zeros(1004, np.uint16), np.zeros(1004, np.float32)
    narrow("bfloat16_round_trip", x, bits, wide, 1004)
    rounded = (bits.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_allclose(rounded, x, rtol=2**-8)
    assert bits[-2:].tolist() == [0x3F80, 0x3F82]
    np.testing.assert_array_equal(wide, rounded * 2)


# Styles


@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (33, 130, 17)])
def test_a_register_tiled_matrix_product(program: Programs, m: int, n: int, k: int) -> None:
    a, b = floats(m * k).reshape(m, k), floats(k * n).reshape(k, n)
    c = np.zeros((m, n), np.float32)
    program("styles.cu")("sgemm", a, b, c, m, n, k, None)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("is_affine", [True, False])
def test_layer_normalisation_by_welford(program: Programs, is_affine: bool) -> None:
    x, gamma, y = floats(7 * 300).reshape(7, 300), floats(300), np.zeros((7, 300), np.float32)
    assert program("styles.cu")("layernorm", y, x, gamma if is_affine else None, 7, 300) == 0
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, expected * (gamma if is_affine else 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("is_relu", [True, False])
def test_classes_enums_and_default_arguments(program: Programs, is_relu: bool) -> None:
    x = floats(50 * 70).reshape(50, 70)
    y = x.copy()
    styles = program("styles.cu")
    styles("leaky", y, 50, 70, is_relu)
    np.testing.assert_array_equal(y, np.where(x > 0, x, 0 if is_relu else x * np.float32(0.1)))
    assert {k.name: k.mode for k in styles.build.kernels} == {
        "sgemm_tiled": "phases",
        "layer_norm": "phases",
        "activate_2d": "loop",
        "max_kernel": "loop",
    }


def test_a_maximum_by_compare_and_swap(program: Programs) -> None:
    x, y = floats(10000), np.zeros(1, np.float32)
    program("styles.cu")("maximum", x, y, 10000)
    assert y[0] == x.max()
