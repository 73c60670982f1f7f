from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from cuda_gym.errors import Refused, WrongOutput
from cuda_gym.judge.profiling.pairs import Pair
from cuda_gym.judge.profiling.race import race
from cuda_gym.judge.profiling.sides import Block, Sealed
from cuda_gym.judge.profiling.timing import bootstrap_interval, summarise
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, TimingPlan

PLAN = TimingPlan(max_calls=64, min_pairs=4, max_pairs=12)


def block(
    call_us: Sequence[float], *, wall_us: float = 0.0, host_us: float = 10.0, num_ungated: int = 0
) -> Block:
    return Block(
        call_us=tuple(call_us),
        host_us=(host_us,) * len(call_us),
        num_ungated=num_ungated,
        wall_us=wall_us,
    )


class ScriptedReference:
    """A reference whose calls take `us` microseconds, give or take `noise`."""

    def __init__(self, us: float, noise: float = 0.0, content_bytes: int = 1000) -> None:
        self.us, self.noise, self.content_bytes = us, noise, content_bytes
        self.made: list[int] = []
        self.log: list[str] = []
        self.generator = random.Random(1)
        self.wrong_after: int | None = None

    def new_contents(self, count: int, *, spare: bool = False, sealed: bool = False) -> int:
        assert not sealed
        self.made.append(count + spare)
        self.log.append("new")
        return self.content_bytes

    def run(self, count: int, *, dropped: int = 0, gate_us: float = 0.0) -> Block:
        self.log.append("reference")
        us = self.us * self.generator.uniform(1 - self.noise, 1 + self.noise)
        return block([us] * (dropped + count))

    def empty_us(self, count: int, *, queued: bool) -> float:
        raise AssertionError("nothing is sealed on the host")

    def check(self, count: int) -> None:
        if self.wrong_after is not None and len(self.made) > self.wrong_after:
            raise WrongOutput("wrong in a timed call")


class ScriptedCandidate:
    """A candidate that claims `us` a call, and works `hidden` more that only our clock sees."""

    def __init__(self, reference: ScriptedReference, us: float, hidden: float = 0.0) -> None:
        self.reference, self.us, self.hidden = reference, us, hidden

    def run_sealed(self, count: int, *, queue_s: float) -> Sealed:
        raise AssertionError("nothing is sealed on the host")

    def run(
        self, count: int, *, dropped: int = 0, gate_us: float = 0.0, dry: bool = False
    ) -> Block:
        self.reference.log.append("dry" if dry else "candidate")
        per_call = 20.0 if dry else 20.0 + self.us + self.hidden
        calls = count + dropped
        return block([0.0 if dry else self.us] * calls, wall_us=per_call * calls)


def test_the_sides_take_turns_in_going_first() -> None:
    reference = ScriptedReference(1000.0)
    race(reference, ScriptedCandidate(reference, 500.0), PLAN)
    turns = [step for step in reference.log if step != "dry"]
    blocks = [tuple(turns[i : i + 3]) for i in range(6, len(turns), 3)]
    forth, back = ("new", "reference", "candidate"), ("new", "candidate", "reference")
    assert blocks == [forth, back, forth, back]


def test_a_block_lasts_fifty_milliseconds_where_calls_allow_it_with_one_more_for_what_is_dropped() -> (
    None
):
    reference = ScriptedReference(1000.0)
    pairs = race(reference, ScriptedCandidate(reference, 2500.0), PLAN).pairs
    assert {len(pair.reference_us) for pair in pairs} == {50}
    assert {len(pair.candidate_us) for pair in pairs} == {20}
    assert set(reference.made[2:]) == {51}


def test_large_contents_make_small_blocks() -> None:
    reference = ScriptedReference(1000.0, content_bytes=100_000_000)
    pairs = race(reference, ScriptedCandidate(reference, 500.0), PLAN).pairs
    assert {len(pair.candidate_us) for pair in pairs} == {2}


def test_noise_makes_the_race_longer_within_bounds() -> None:
    calm, wild = ScriptedReference(1000.0), ScriptedReference(1000.0, noise=0.4)
    short = race(calm, ScriptedCandidate(calm, 500.0), PLAN).pairs
    long = race(wild, ScriptedCandidate(wild, 500.0), PLAN).pairs
    assert len(short) == PLAN.min_pairs
    assert PLAN.min_pairs < len(long) <= PLAN.max_pairs


def test_the_speedup_is_the_ratio_of_what_was_claimed_where_the_clocks_agree() -> None:
    reference = ScriptedReference(1000.0)
    raced = race(reference, ScriptedCandidate(reference, 500.0), PLAN)
    timing = summarise(
        raced.pairs,
        PLAN,
        timer=raced.timer,
        first_call_us=raced.first_call_us,
        eager_over_compile=1.5,
    )
    assert timing.speedup == 2.0
    assert (timing.speedup_low, timing.speedup_high) == (2.0, 2.0)
    assert timing.eager_us == 1500.0
    assert timing.num_blocks == 4


def test_hidden_time_gains_thirty_percent_at_most() -> None:
    reference = ScriptedReference(2000.0)
    pairs = race(reference, ScriptedCandidate(reference, 1000.0, hidden=600.0), PLAN).pairs
    timing = summarise(pairs, PLAN, timer="wall")
    assert timing.clock_ratio == pytest.approx(1.595)
    assert timing.time_us == pytest.approx(1595.0 / 1.3)
    assert timing.speedup == pytest.approx(2000.0 / 1595.0 * 1.3)


def test_a_false_claim_for_some_calls_gains_no_more() -> None:
    claims = (1.0,) + (1142.7,) * 7
    pairs = [
        Pair(
            reference_us=(1000.0,) * 8,
            candidate_us=claims,
            wall_us=8000.0,
            protocol_us=0.0,
            waiting=0.5,
        )
    ] * 4
    assert summarise(pairs, PLAN, timer="wall").time_us == pytest.approx(1000.0 / 1.3)


def test_much_hidden_time_is_refused_with_both_numbers() -> None:
    reference = ScriptedReference(1000.0)
    pairs = race(reference, ScriptedCandidate(reference, 10.0, hidden=900.0), PLAN).pairs
    with pytest.raises(Refused, match=r"10\.0 us a call.*at least 910\.0 us"):
        summarise(pairs, PLAN, timer="wall")


def test_on_a_busy_machine_hidden_time_is_credited_but_nobody_is_refused() -> None:
    busy = Pair(
        reference_us=(1000.0,), candidate_us=(10.0,), wall_us=910.0, protocol_us=0.0, waiting=0.5
    )
    assert summarise([busy] * 4, PLAN, timer="wall").time_us == pytest.approx(700.0)


def test_a_gap_within_the_noise_is_neither_credited_nor_refused() -> None:
    reference = ScriptedReference(1000.0)
    pairs = race(reference, ScriptedCandidate(reference, 5.0, hidden=4.9), PLAN).pairs
    assert summarise(pairs, PLAN, timer="wall").time_us == 5.0
    pairs = race(reference, ScriptedCandidate(reference, 5.0, hidden=5.1), PLAN).pairs
    assert summarise(pairs, PLAN, timer="wall").time_us == pytest.approx(10.1 / 1.3)


def test_a_wrong_output_of_a_timed_call_ends_the_race() -> None:
    reference = ScriptedReference(1000.0)
    reference.wrong_after = 3
    with pytest.raises(WrongOutput):
        race(reference, ScriptedCandidate(reference, 500.0), PLAN)


def test_disturbed_pairs_are_left_out_and_repeated() -> None:
    reference = ScriptedReference(1000.0)
    clock = iter([0.0, 1e9] * 3 + [1e9, 1e9] * 99)
    pairs = race(
        reference, ScriptedCandidate(reference, 500.0), PLAN, waited_us=lambda: next(clock)
    ).pairs
    timing = summarise(pairs, PLAN, timer="wall")
    assert timing.num_disturbed == 3
    assert timing.num_blocks >= PLAN.min_pairs


def test_where_every_pair_is_disturbed_torch_compile_is_no_slower_than_it_ever_was() -> None:
    busy = [Pair(reference_us=(8000.0,), candidate_us=(1000.0,), waiting=0.5)] * 4
    timing = summarise(busy, PLAN, timer="wall", best_compile_us=1500.0)
    assert not timing.steady
    assert timing.compile_us == 1500.0
    assert timing.speedup == 1.5
    assert timing.num_disturbed == 4


def test_on_a_quiet_machine_the_best_of_earlier_days_does_not_count() -> None:
    calm = [Pair(reference_us=(8000.0,), candidate_us=(1000.0,))] * 4
    assert summarise(calm, PLAN, timer="wall", best_compile_us=1500.0).speedup == 8.0


def test_one_quiet_pair_that_clears_a_submission_is_enough() -> None:
    guilty = Pair(reference_us=(1e3,), candidate_us=(10.0,), wall_us=910.0, protocol_us=0.0)
    clear = Pair(reference_us=(1e3,), candidate_us=(10.0,), wall_us=10.0, protocol_us=0.0)
    assert summarise([guilty] * 3 + [clear], PLAN, timer="wall").time_us == 10.0
    with pytest.raises(Refused):
        summarise([guilty] * 4, PLAN, timer="wall")


def test_one_quiet_pair_is_too_little_to_accuse_anybody() -> None:
    guilty = Pair(reference_us=(1e3,), candidate_us=(10.0,), wall_us=910.0, protocol_us=0.0)
    assert summarise([guilty], PLAN, timer="wall").time_us == pytest.approx(700.0)


def test_the_interval_holds_the_median_and_repeats() -> None:
    ratios = [1.0, 1.1, 0.9, 1.05, 0.95]
    low, high = bootstrap_interval(ratios)
    assert low <= 1.0 <= high
    assert (low, high) == bootstrap_interval(ratios)


def test_who_lies_in_the_pairs_that_our_clock_leaves_out_gains_a_tenth() -> None:
    watched = Pair(reference_us=(1000.0,), candidate_us=(900.0,), wall_us=900.0, protocol_us=0.0)
    false = Pair(reference_us=(1000.0,), candidate_us=(1.0,), wall_us=900.0)
    timing = summarise([watched, false] * 4, PLAN, timer="wall")
    assert timing.speedup <= 1.1 * 1000.0 / 900.0
    assert timing.time_us >= 900.0 / 1.1


def test_who_is_honest_in_one_pair_and_lies_in_the_others_gains_a_tenth() -> None:
    honest = Pair(reference_us=(1000.0,), candidate_us=(900.0,), wall_us=900.0, protocol_us=0.0)
    false = Pair(reference_us=(1000.0,), candidate_us=(1.0,), wall_us=900.0, protocol_us=0.0)
    timing = summarise([honest] + [false] * 5, PLAN, timer="wall")
    assert timing.speedup == pytest.approx(1.1 * 1000.0 / 900.0)


def test_no_call_is_believed_to_take_no_time() -> None:
    reference = ScriptedReference(10.0)
    raced = race(reference, ScriptedCandidate(reference, 0.0, hidden=5.0), PLAN)
    assert summarise(raced.pairs, PLAN, timer="wall").time_us == PLAN.least_us


@pytest.mark.parametrize("us", [40.0, 99.0])
def test_our_own_clock_looks_at_many_calls_where_they_are_short_and_at_few_blocks(
    us: float,
) -> None:
    reference = ScriptedReference(us)
    pairs = race(reference, ScriptedCandidate(reference, us), CPU_PLAN).pairs
    calls = [(len(pair.candidate_us), pair.protocol_us is not None) for pair in pairs]
    assert calls[:4] == [(64, True), (8, False)] * 2
    assert set(calls[4:]) == {(8, False)}


def test_who_tells_a_longer_time_at_first_is_looked_at_in_a_block_that_is_as_long_as_it_should() -> (
    None
):
    class Candidate(ScriptedCandidate):
        def run(self, count: int, **more: Any) -> Block:
            self.us = 500.0 if len(self.reference.made) < 3 else 2.0
            self.hidden = 20.0 - self.us
            return super().run(count, **more)

    reference = ScriptedReference(1000.0)
    pairs = race(reference, Candidate(reference, 500.0), CPU_PLAN).pairs
    assert pairs[0].protocol_us is None
    assert all(len(pair.candidate_us) == 64 for pair in pairs if pair.protocol_us is not None)
    assert summarise(pairs, CPU_PLAN, timer="wall").time_us == pytest.approx(20.0 / 1.3)


def test_few_false_claims_among_true_ones_are_paid_by_our_own_clock_and_accuse_nobody() -> None:
    claims = (2.0,) * 7 + (100.0,) * 57
    pair = Pair(reference_us=(100.0,), candidate_us=claims, wall_us=6450.0, protocol_us=50.0)
    assert summarise([pair] * 10, CPU_PLAN, timer="wall").time_us == pytest.approx(100.0 / 1.3)


def test_a_disturbed_dry_run_clears_nobody() -> None:
    true = Pair(
        reference_us=(50.0,) * 8, candidate_us=(40.0,) * 8, wall_us=420.0, protocol_us=100.0
    )
    false = replace(true, candidate_us=(4.0,) * 8, protocol_us=388.0)
    timing = summarise([true] + [false] * 5, CPU_PLAN, timer="wall")
    assert timing.speedup == pytest.approx(1.1 * 50.0 / 40.0)


def test_where_others_use_the_machine_the_reference_tells_how_much_slower_calls_are_than_what_counts() -> (
    None
):
    calls = (40.0,) * 4 + (120.0,) * 4
    busy = Pair(
        reference_us=calls, candidate_us=calls, wall_us=680.0, protocol_us=40.0, waiting=0.9
    )
    assert summarise([busy] * 4, CPU_PLAN, timer="wall").time_us == 40.0
    alone = replace(busy, reference_us=(40.0,) * 8)
    assert summarise([alone] * 4, CPU_PLAN, timer="wall").time_us == pytest.approx(80.0 / 1.3)
    false = replace(busy, candidate_us=(1.0,) * 8)
    assert summarise([false] * 4, CPU_PLAN, timer="wall").time_us == pytest.approx(40.0 / 1.3)
    steady = replace(busy, waiting=0.0)
    assert summarise([steady] * 4, CPU_PLAN, timer="wall").time_us == pytest.approx(80.0 / 1.3)
    wild = replace(busy, reference_us=(40.0,) * 2 + (900.0,) * 6, candidate_us=(1.0,) * 8)
    assert summarise([wild] * 4, CPU_PLAN, timer="wall").time_us == pytest.approx(40.0 / 1.3)
