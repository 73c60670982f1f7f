from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cuda_gym.core.verdict import DeviceRates, Profile, Work
from cuda_gym.judge.profiling.roofline import floor_of, is_below_floor, number_format

RATES = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=8_000, num_cores=2)
WORK = Work(read_bytes=6_000, written_bytes=4_000, flops=5e4)


def test_the_slower_of_moving_and_computing_is_the_floor() -> None:
    floor = floor_of(Profile(work=WORK, rates=RATES))
    assert floor is not None
    assert (floor.memory_us, floor.arithmetic_us, floor.time_us) == (1.0, 0.5, 1.0)
    assert not floor.is_arithmetic
    floor = floor_of(Profile(work=replace(WORK, flops=5e5), rates=RATES))
    assert floor is not None
    assert (floor.time_us, floor.is_arithmetic) == (5.0, True)


def test_a_call_fits_the_cache_with_all_that_it_moves() -> None:
    small = floor_of(Profile(work=replace(WORK, read_bytes=4_000), rates=RATES))
    large = floor_of(Profile(work=WORK, rates=RATES))
    assert small is not None
    assert large is not None
    assert small.fits_cache
    assert not large.fits_cache


def test_what_is_unknown_has_no_floor() -> None:
    assert floor_of(None) is None
    assert floor_of(Profile(work=WORK)) is None
    assert floor_of(Profile(rates=RATES)) is None
    uncounted = floor_of(Profile(work=replace(WORK, flops=None), rates=RATES))
    assert uncounted is not None
    assert (uncounted.arithmetic_us, uncounted.time_us) == (None, 1.0)


def test_products_are_measured_by_the_rate_of_their_number_format() -> None:
    rates = replace(RATES, gflop_per_s_in={"half": 1000.0})
    half = floor_of(Profile(work=replace(WORK, number_format="half"), rates=rates))
    unmeasured = floor_of(Profile(work=replace(WORK, number_format="int8"), rates=rates))
    assert half is not None
    assert unmeasured is not None
    assert (half.arithmetic_us, unmeasured.arithmetic_us) == (0.05, 0.5)


@pytest.mark.parametrize(
    ("dtypes", "allow_tf32", "expected"),
    [
        (["float32"], False, "float32"),
        (["float32", "int64"], True, "tf32"),
        (["float32", "bfloat16"], True, "half"),
        (["int8", "float32"], False, "int8"),
        (["float64"], True, "float64"),
        (["int64", "bool"], True, "float32"),
    ],
)
def test_a_task_computes_in_the_fastest_format_that_its_tensors_have(
    dtypes: Sequence[str], allow_tf32: bool, expected: str
) -> None:
    assert number_format(dtypes, allow_tf32=allow_tf32) == expected


H200 = DeviceRates(
    copy_gb_per_s=4_200.0,
    gflop_per_s=5e4,
    cache_bytes=60 << 20,
    num_cores=132,
    cached_gb_per_s=6_000.0,
    peak_gb_per_s=4_917.0,
)
RELU_BYTES = 256 * 393_216 * 4


def below(time_us: float, written: int, read: int, rates: DeviceRates | None = H200) -> str | None:
    return is_below_floor(time_us, written_bytes=written, influential_bytes=read, rates=rates)


def test_a_kernel_that_skips_its_inputs_is_below_the_floor_and_one_at_the_peak_is_not() -> None:
    at_the_peak_us = 2 * RELU_BYTES / 4_917.0 / 1e3
    assert below(at_the_peak_us, RELU_BYTES, RELU_BYTES) is None
    why = below(RELU_BYTES / 4_200.0 / 1e3, RELU_BYTES, RELU_BYTES)
    assert why is not None
    assert why.startswith("95.87 us is less than the 137.")
    assert "402,653,184 bytes of output" in why
    assert "5409 GB/s" in why


def test_what_has_room_in_the_cache_need_not_pass_through_memory() -> None:
    part = 20 << 20
    fast_us = 2 * part / 8_000.0 / 1e3
    assert below(fast_us, part, part) is None
    why = below(fast_us / 2, part, part)
    assert why is not None
    assert "through its cache, at 12000 GB/s" in why


def test_a_result_that_stays_in_the_cache_leaves_only_the_rest_to_be_moved() -> None:
    inputs, outputs = 50 << 20, 50 << 20
    reads_only_us = inputs / 4_900.0 / 1e3
    assert below(reads_only_us, outputs, inputs) is None


def test_where_the_peak_is_unknown_the_floor_gives_way_further() -> None:
    rates = replace(H200, peak_gb_per_s=None)
    time_us = 2 * RELU_BYTES / (1.2 * 4_200.0) / 1e3
    assert below(time_us, RELU_BYTES, RELU_BYTES, rates) is None
    assert below(0.8 * time_us, RELU_BYTES, RELU_BYTES, rates) is not None


def test_what_is_unknown_voids_nothing() -> None:
    assert below(0.001, RELU_BYTES, RELU_BYTES, None) is None
    assert below(0.001, RELU_BYTES, RELU_BYTES, replace(H200, cache_bytes=0)) is None
    assert below(0.001, RELU_BYTES, RELU_BYTES, replace(H200, cached_gb_per_s=None)) is None
