"""Counters are cut to the lines that matter, under one sentence that concludes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.core.kernel_counters import KernelCounters
from cuda_gym.core.verdict import Profile
from cuda_gym.envs.feedback.counters_page import conclusion, describe_counters
from cuda_gym.judge.profiling.counters import read_counters

RAW = Path(__file__).parents[2] / "judge" / "profiling" / "counter_tables" / "raw.csv"
PLAIN = KernelCounters(name="k", launches=1, duration_us=10.0)


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (replace(PLAIN, dram_percent=91.0, sm_percent=30.0), "Memory-bound: the memory is 91% busy"),
        (replace(PLAIN, dram_percent=72.0, sm_percent=88.0), "Compute-bound: the multiprocessors are 88%"),
        (replace(PLAIN, tensor_percent=80.0, sm_percent=80.0), "the tensor cores are 80% busy"),
        (replace(PLAIN, grid_blocks=8, num_multiprocessors=132), "Too few blocks: 8 for 132"),
        (replace(PLAIN, load_efficiency_percent=12.5), "Scattered access: 12%"),
        (replace(PLAIN, store_efficiency_percent=0.0, bank_conflict_percent=87.0), "Bank conflicts: 87%"),
        (replace(PLAIN, stalls=(("__syncthreads()", 3.0),)), "wait at barriers"),
        (replace(PLAIN, dram_percent=20.0, stalls=(("global or local memory", 9.0),), theoretical_occupancy_percent=25.0, limited_by="registers"), "more warps (limited by registers now)"),
        (PLAIN, "Latency-bound."),
    ],
)  # fmt: skip
def test_a_kernel_is_bound_by_what_the_numbers_say(kernel: KernelCounters, said: str) -> None:
    assert said in conclusion(kernel)


def test_a_page_has_at_most_ten_lines_a_kernel_and_says_how_many_are_left() -> None:
    counters = read_counters(RAW.read_text(encoding="utf-8"))
    page = describe_counters(Profile(counters=counters + counters))
    assert len(page.splitlines()) <= 2 + 3 * 10
    assert "... and 3 more kernels" in page
    assert "memory: 74% of its peak, 3,569 GB/s, 109.6 MB moved" in page
    assert "limited by registers, 254 registers a thread" in page


def test_what_is_unknown_is_not_told() -> None:
    page = describe_counters(Profile(counters=(PLAIN,)))
    assert "None" not in page
    assert len(page.splitlines()) == 3


def test_without_counters_there_is_no_page() -> None:
    assert describe_counters(Profile(no_counters="why")) == ""
