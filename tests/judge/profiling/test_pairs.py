"""Our own clock leaves out of a block what a run without calls takes, and no more."""

from __future__ import annotations

from dataclasses import replace

from cuda_gym.judge.profiling.pairs import Pair, clock_ratios, is_cleared
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, REMAPPING_CPU_PLAN


def test_blocks_are_compared_with_dry_runs_of_as_many_calls() -> None:
    short = Pair(reference_us=(50.0,), candidate_us=(50.0,) * 2, wall_us=150.0, protocol_us=50.0)
    long = replace(short, candidate_us=(50.0,) * 20, wall_us=1500.0, protocol_us=500.0)
    assert clock_ratios([short, long], CPU_PLAN) == [1.0, 1.0]


def test_where_contents_are_mapped_anew_a_block_is_compared_with_its_own_dry_run() -> None:
    pair = Pair(reference_us=(50.0,), candidate_us=(50.0,) * 2, wall_us=150.0, protocol_us=50.0)
    slow = replace(pair, wall_us=1100.0, protocol_us=1000.0)
    assert clock_ratios([pair, slow], REMAPPING_CPU_PLAN) == [1.0, 1.0]


def test_a_pair_that_our_clock_has_not_looked_at_clears_nobody() -> None:
    unseen = Pair(reference_us=(20.0,), candidate_us=(10.0,), wall_us=10.0)
    assert clock_ratios([unseen], CPU_PLAN) == []
    assert not is_cleared([unseen], CPU_PLAN)
