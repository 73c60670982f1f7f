from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import DeviceRates
from cuda_gym.judge.profiling.rates import best_rates, read_rates

RATES = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=8_000, num_cores=2)


def test_of_two_measurements_the_best_of_each_rate_counts() -> None:
    other = replace(RATES, copy_gb_per_s=12.0, gflop_per_s=90.0)
    assert best_rates(RATES, other) == replace(RATES, copy_gb_per_s=12.0)


def test_rates_are_read_back_as_they_were_remembered() -> None:
    assert read_rates(as_plain(RATES)) == RATES


@pytest.mark.parametrize("change", [{"copy_gb_per_s": 0.0}, {"cache_bytes": "much"}, {"x": 1}])
def test_what_cannot_be_used_is_none(change: dict[str, object]) -> None:
    plain = as_plain(RATES) | change
    plain.pop("num_cores" if "x" in change else "x", None)
    assert read_rates(plain) is None
