from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from cuda_gym.core.plain import as_plain
from cuda_gym.core.verdict import DeviceRates
from cuda_gym.judge.profiling.rates import best_rates, measure_rates, read_rates

RATES = DeviceRates(copy_gb_per_s=10.0, gflop_per_s=100.0, cache_bytes=8_000, num_cores=2)
OF_A_GPU = replace(
    RATES,
    cached_gb_per_s=40.0,
    peak_gb_per_s=12.0,
    gflop_per_s_in={"half": 900.0, "tf32": 400.0},
)


def test_of_two_measurements_the_best_of_each_rate_counts() -> None:
    other = replace(RATES, copy_gb_per_s=12.0, gflop_per_s=90.0)
    assert best_rates(RATES, other) == replace(RATES, copy_gb_per_s=12.0)


def test_of_two_measurements_of_a_gpu_the_best_in_each_number_format_counts() -> None:
    other = replace(OF_A_GPU, cached_gb_per_s=None, gflop_per_s_in={"half": 950.0, "int8": 9.0})
    best = best_rates(OF_A_GPU, other)
    assert best.gflop_per_s_in == {"half": 950.0, "int8": 9.0, "tf32": 400.0}
    assert best.cached_gb_per_s == 40.0


@pytest.mark.parametrize("rates", [RATES, OF_A_GPU])
def test_rates_are_read_back_as_they_were_remembered(rates: DeviceRates) -> None:
    assert read_rates(as_plain(rates)) == rates


def test_rates_that_were_remembered_before_gpus_are_read() -> None:
    old = {"copy_gb_per_s": 10.0, "gflop_per_s": 100.0, "cache_bytes": 8_000, "num_cores": 2}
    assert read_rates(old) == RATES


@pytest.mark.parametrize(
    "change",
    [
        {"copy_gb_per_s": 0.0},
        {"cache_bytes": "much"},
        {"gflop_per_s_in": {"half": 0.0}},
        {"gflop_per_s_in": {"half": "fast"}},
        {"x": 1},
    ],
)
def test_what_cannot_be_used_is_none(change: dict[str, object]) -> None:
    plain = as_plain(RATES) | change
    plain.pop("num_cores" if "x" in change else "x", None)
    assert read_rates(plain) is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_the_rates_of_a_gpu_are_in_the_order_that_its_hardware_gives_them() -> None:
    torch.ones(1, device="cuda")
    rates = measure_rates(torch.device("cuda", 0))
    assert rates.peak_gb_per_s is None or 0.5 < rates.copy_gb_per_s / rates.peak_gb_per_s < 1.05
    assert rates.cached_gb_per_s is not None
    assert rates.cached_gb_per_s > 0.7 * rates.copy_gb_per_s  # each copy has a launch of its own
    assert rates.gflop_per_s_in["half"] > rates.gflop_per_s
    assert set(rates.gflop_per_s_in) >= {"half", "tf32", "float64"}
    assert rates.cache_bytes > 1 << 20
    assert not torch.backends.cuda.matmul.allow_tf32
