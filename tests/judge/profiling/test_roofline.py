from __future__ import annotations

from dataclasses import replace

from cuda_gym.core.verdict import DeviceRates, Profile, Work
from cuda_gym.judge.profiling.roofline import floor_of

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
