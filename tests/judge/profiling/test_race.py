"""How a race goes on a GPU: gates, contents, and whose clock is believed; scripted sides play it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.errors import Refused
from cuda_gym.judge.profiling.pairs import Pair, clock_ratios, is_cleared
from cuda_gym.judge.profiling.race import UNGATED_TIMER, race
from cuda_gym.judge.profiling.sides import Block, Sealed
from cuda_gym.judge.profiling.timing import summarise
from cuda_gym.judge.profiling.timing_plan import GPU_PLAN

PLAN = replace(GPU_PLAN, max_race_s=60.0)
"""However slow the machine is that runs the tests, time is no reason to stop."""
GB = 1 << 30
HAND_OVER_US = 50.0


class Side:
    """One side: calls of `us` on the device, before which the host is busy for `host_us`."""

    def __init__(
        self,
        us: float = 20.0,
        host_us: float = 10.0,
        content_bytes: int = 1000,
        wobble: float = 0.0,
    ) -> None:
        self.wobble = wobble
        """How much longer a call of every second block takes, relative."""
        self.us, self.host_us, self.content_bytes = us, host_us, content_bytes
        self.waits = False
        self.late: list[int] = []
        """How many calls of each of the next blocks are late."""
        self.dropped_us: float | None = None
        """What is claimed for the calls that do not count."""
        self.hidden_us: list[float] = []
        """What each of the next blocks takes and nobody tells."""
        self.true_us: float | None = None
        """Of a call, where another is claimed."""
        self.disturbed_us: list[float] = []
        """What somebody else adds to each of the next sealed blocks."""
        self.most_queued = 1000
        self.num_hiccups = 0
        """As many of the next sealed blocks the host hands over late, by 5 ms."""
        self.is_sealed = False
        self.queues_s: list[float] = []
        self.gates: list[float] = []
        self.made: list[int] = []

    def new_contents(self, count: int, *, spare: bool = False, sealed: bool = False) -> int:
        self.is_sealed = sealed
        if not sealed:
            self.made.append(count + spare)
        return self.content_bytes

    def check(self, count: int) -> None:
        assert self.is_sealed or count <= self.made[-1]

    def run_sealed(self, count: int, *, queue_s: float) -> Sealed:
        self.queues_s.append(queue_s)
        hiccups, self.num_hiccups = self.num_hiccups > 0, max(0, self.num_hiccups - 1)
        return Sealed(
            wall_us=HAND_OVER_US
            + (self.true_us or self.us) * count
            + (self.disturbed_us.pop(0) if self.disturbed_us else 0.0)
            + 5000.0 * hiccups,
            was_queued=count <= self.most_queued and not self.waits and not hiccups,
        )

    def empty_us(self, count: int, *, queued: bool) -> float:
        return HAND_OVER_US

    def run(
        self, count: int, *, dropped: int = 0, gate_us: float = 0.0, dry: bool = False
    ) -> Block:
        calls = count + dropped
        if dry:
            return Block(
                call_us=(1.0,) * calls,
                host_us=(1.0,) * calls,
                num_ungated=0,
                wall_us=HAND_OVER_US + calls,
            )
        if not self.is_sealed:
            self.gates.append(gate_us)
        late = calls if self.waits or self.host_us > gate_us else 0
        if self.late:
            late = self.late.pop(0)
        claimed = (self.us if self.dropped_us is None else self.dropped_us,) * dropped
        hidden_us = self.hidden_us.pop(0) if self.hidden_us else 0.0
        return Block(
            call_us=(*claimed, *(self.us * (1.0 + self.wobble * (len(self.gates) % 2)),) * count),
            host_us=(self.host_us,) * calls,
            num_ungated=late if gate_us else 0,
            wall_us=HAND_OVER_US + self.us * calls + hidden_us,
        )


def test_each_side_waits_behind_a_gate_twice_as_long_as_its_host_is_busy() -> None:
    ours, theirs = Side(host_us=40.0), Side(host_us=100.0)
    raced = race(ours, theirs, PLAN)
    assert raced.timer == "events behind a gate"
    assert raced.host_us == 100.0
    assert set(ours.gates[:2]) == set(theirs.gates[:2]) == {PLAN.longest_gate_us}
    assert (set(ours.gates[2:]), set(theirs.gates[2:])) == ({80.0}, {200.0})


@pytest.mark.parametrize(("host_us", "gate_us"), [(1.0, 30.0), (1500.0, 2000.0)])
def test_a_gate_is_neither_too_short_nor_endless(host_us: float, gate_us: float) -> None:
    theirs = Side(host_us=host_us)
    race(Side(), theirs, PLAN)
    assert set(theirs.gates[2:]) == {gate_us}


def test_where_a_submission_waits_for_the_device_both_sides_go_ungated_and_the_timer_says_so() -> (
    None
):
    ours, theirs = Side(), Side()
    theirs.waits = True
    assert race(ours, theirs, PLAN).timer == UNGATED_TIMER
    assert set(ours.gates[2:]) == set(theirs.gates[2:]) == {0.0}


def test_one_late_call_of_the_probe_is_a_hiccup() -> None:
    theirs = Side()
    theirs.late = [1, 1]
    assert race(Side(), theirs, PLAN).timer == "events behind a gate"


def test_pairs_with_late_calls_are_disturbed_and_others_made() -> None:
    theirs = Side()
    theirs.late = [0, 0, 20, 20, 20]
    raced = race(Side(), theirs, PLAN)
    timing = summarise(raced.pairs, PLAN, timer=raced.timer)
    assert timing.num_disturbed == 3
    assert timing.num_blocks >= PLAN.min_pairs


@pytest.mark.parametrize("us", [2.0, 300.0, 2500.0])
def test_a_race_has_a_hundred_timed_calls(us: float) -> None:
    raced = race(Side(us), Side(us), PLAN)
    assert sum(len(pair.candidate_us) for pair in raced.pairs) >= 100
    assert all(len(pair.candidate_us) <= PLAN.max_calls for pair in raced.pairs)


@pytest.mark.parametrize(
    ("max_content_bytes", "made", "dropped"),
    [(12 * GB, 3, 3), (2 * GB, 1, 0)],
)
def test_contents_of_4_gb_are_as_many_as_the_card_bears(
    max_content_bytes: int, made: int, dropped: int
) -> None:
    ours = Side(3000.0, content_bytes=4 * GB)
    plan = replace(PLAN, max_content_bytes=max_content_bytes)
    raced = race(ours, Side(3000.0), plan)
    assert set(ours.made[2:]) == {made}
    assert {len(pair.dropped_us) for pair in raced.pairs} == {dropped}
    assert len(raced.pairs) == PLAN.max_pairs


def test_our_own_clock_leaves_out_what_a_sealed_block_takes_without_calls() -> None:
    raced = race(Side(), Side(), PLAN)
    assert [audit.call_us for audit in raced.audits] == pytest.approx([20.0])
    assert all(audit.was_queued and audit.num_calls == 50 for audit in raced.audits)
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.clock_ratio == pytest.approx(1.0)
    assert timing.speedup == pytest.approx(1.0)


@pytest.mark.parametrize(("us", "num_calls"), [(1.0, 50), (100.0, 10), (5000.0, 1)])
def test_a_sealed_block_is_as_long_as_our_clock_needs(us: float, num_calls: int) -> None:
    raced = race(Side(us), Side(us), PLAN)
    assert {audit.num_calls for audit in raced.audits} == {num_calls}


def test_a_host_that_is_slow_gets_more_time_to_queue_a_block() -> None:
    theirs = Side(host_us=1000.0)
    raced = race(Side(), theirs, PLAN)
    assert {audit.num_calls for audit in raced.audits} == {50}
    assert all(0.1 < queue_s <= 0.5 for queue_s in theirs.queues_s)


def test_time_that_is_claimed_away_is_found_by_our_own_clock() -> None:
    theirs = Side()
    theirs.true_us = 60.0
    raced = race(Side(), theirs, PLAN)
    with pytest.raises(
        Refused, match=r"shows 20\.0 us a call; in 8 .* own clock showed at least 60\.0 us"
    ):
        summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)


def test_nobody_is_refused_because_somebody_else_was_busy_for_a_while() -> None:
    ours, theirs = Side(), Side(3.0)
    theirs.disturbed_us = [250.0, 250.0, 400.0]
    raced = race(ours, theirs, PLAN, best_compile_us=20.0)
    assert len(raced.audits) == 4
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.time_us == pytest.approx(3.0)
    assert timing.clock_ratio == pytest.approx(1.0)
    assert not ours.is_sealed  # what is profiled next can be read


def test_what_is_claimed_a_little_short_is_paid_as_our_clock_saw_it() -> None:
    theirs = Side()
    theirs.true_us = 28.0
    raced = race(Side(), theirs, PLAN)
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    paid_us = (28.0 - PLAN.hidden_us) / PLAN.credited
    assert timing.time_us == pytest.approx(paid_us, rel=0.01)
    assert timing.speedup == pytest.approx(20.0 / paid_us, rel=0.01)


def test_a_block_that_the_device_did_not_take_in_ahead_is_made_shorter() -> None:
    theirs = Side()
    theirs.most_queued = 12
    raced = race(Side(), theirs, PLAN)
    assert {audit.num_calls for audit in raced.audits} == {12}
    assert all(audit.was_queued for audit in raced.audits)


def test_calls_that_are_claimed_to_be_short_get_no_shorter_block() -> None:
    theirs = Side(us=2.0)
    theirs.true_us = 20.0
    theirs.most_queued = 0
    raced = race(Side(us=20.0), theirs, PLAN)
    assert {audit.num_calls for audit in raced.audits} == {50}
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.time_us > (20.0 - PLAN.hidden_us - 0.2) / PLAN.credited


@pytest.mark.parametrize("num_hiccups", [1, 2, 3, 4])
def test_a_host_that_was_late_for_a_while_costs_nobody_anything(num_hiccups: int) -> None:
    theirs = Side()
    theirs.num_hiccups = num_hiccups
    raced = race(Side(), theirs, PLAN)
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.time_us == pytest.approx(20.0)
    assert timing.speedup == pytest.approx(1.0)


def test_a_block_that_is_never_taken_in_ahead_is_tried_a_few_times() -> None:
    theirs = Side()
    theirs.true_us = 60.0
    theirs.most_queued = 0
    raced = race(Side(), theirs, PLAN)
    assert len(raced.audits) == 4
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.time_us == pytest.approx((60.0 - PLAN.hidden_us) / PLAN.credited, rel=0.02)


def test_who_waits_for_the_device_has_another_try_where_the_first_was_disturbed() -> None:
    theirs = Side()
    theirs.waits = True
    theirs.disturbed_us = [5000.0]
    raced = race(Side(), theirs, PLAN)
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert len(raced.audits) == 2
    assert timing.time_us == pytest.approx(20.0)


def test_nobody_is_refused_for_time_of_the_host() -> None:
    theirs = Side()
    theirs.waits = True
    theirs.true_us = 60.0
    raced = race(Side(), theirs, PLAN)
    assert not any(audit.was_queued for audit in raced.audits)
    assert theirs.queues_s == [0.0, 0.0]
    timing = summarise(raced.pairs, PLAN, timer=raced.timer, audits=raced.audits)
    assert timing.time_us == pytest.approx((60.0 - PLAN.hidden_us) / PLAN.credited, rel=0.01)


def test_the_best_of_our_own_blocks_is_compared_with_the_best_dry_one() -> None:
    def pair(wall_us: float, protocol_us: float | None) -> Pair:
        return Pair(
            reference_us=(100.0,), candidate_us=(100.0,), wall_us=wall_us, protocol_us=protocol_us
        )

    pairs = [pair(500.0, 50.0), pair(150.0, 400.0), pair(90.0, None)]
    plan = replace(PLAN, compares_best_walls=True)
    assert clock_ratios(pairs, plan) == [4.5, 1.0]
    assert is_cleared(pairs, plan)
    assert not is_cleared(pairs[:1], plan)
    assert clock_ratios(pairs[2:], plan) == []
