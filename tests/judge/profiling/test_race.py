"""How a race goes on a GPU: gates, contents, and whose clock is believed; scripted sides play it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuda_gym.errors import Refused
from cuda_gym.judge.profiling.race import UNGATED_TIMER, Block, race
from cuda_gym.judge.profiling.timing import GPU_PLAN, Pair, clock_ratios, is_cleared, summarise

PLAN = replace(GPU_PLAN, max_race_s=60.0)
"""However slow the machine is that runs the tests, time is no reason to stop."""
GB = 1 << 30
HAND_OVER_US = 50.0


class Side:
    """One side: calls of `us` on the device, before which the host is busy for `host_us`."""

    def __init__(self, us: float = 20.0, host_us: float = 10.0, content_bytes: int = 1000) -> None:
        self.us, self.host_us, self.content_bytes = us, host_us, content_bytes
        self.waits = False
        self.late: list[int] = []
        """How many calls of each of the next blocks are late."""
        self.dropped_us: float | None = None
        """What is claimed for the calls that do not count."""
        self.hidden_us: list[float] = []
        """What each of the next blocks takes and nobody tells."""
        self.gates: list[float] = []
        self.made: list[int] = []

    def new_contents(self, count: int, *, spare: bool = False) -> int:
        self.made.append(count + spare)
        return self.content_bytes

    def check(self, count: int) -> None:
        assert count <= self.made[-1]

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
        self.gates.append(gate_us)
        late = calls if self.waits or self.host_us > gate_us else 0
        if self.late:
            late = self.late.pop(0)
        claimed = (self.us if self.dropped_us is None else self.dropped_us,) * dropped
        hidden_us = self.hidden_us.pop(0) if self.hidden_us else 0.0
        return Block(
            call_us=(*claimed, *(self.us,) * count),
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


def test_a_race_goes_on_until_our_clock_clears_the_submission() -> None:
    theirs = Side()
    theirs.hidden_us = [0.0, 0.0] + [5000.0] * 9
    raced = race(Side(), theirs, PLAN)
    assert len(raced.pairs) == 10
    timing = summarise(raced.pairs, PLAN, timer=raced.timer)
    assert timing.time_us == 20.0
    assert timing.clock_ratio == pytest.approx(1.0, abs=0.01)


def test_time_that_is_hidden_in_every_block_is_found() -> None:
    theirs = Side()
    theirs.hidden_us = [5000.0] * 99
    raced = race(Side(), theirs, PLAN)
    assert len(raced.pairs) == PLAN.max_pairs
    with pytest.raises(Refused, match=r"shows 20\.0 us a call"):
        summarise(raced.pairs, PLAN, timer=raced.timer)


def test_time_that_is_told_as_that_of_the_calls_that_do_not_count_is_not_believed() -> None:
    theirs = Side()
    theirs.dropped_us = 2000.0  # as if the first calls had taken what the others took
    theirs.hidden_us = [6000.0] * 99
    with pytest.raises(Refused):
        summarise(race(Side(), theirs, PLAN).pairs, PLAN, timer="events")


def test_a_first_call_may_be_slow_within_reason() -> None:
    pair = Pair(reference_us=(9.0,), candidate_us=(4.0, 5.0), dropped_us=(36.0, 6.0, 4.0))
    assert pair.believed_us == 4.0 + 5.0 + 36.0 + 6.0 + 4.0
    greedy = replace(pair, dropped_us=(900.0, 6.0, 4.0))
    assert greedy.believed_us == 4.0 + 5.0 + (2 * 5.0 + 40.0) + 6.0 + 4.0


def test_the_best_of_our_own_blocks_is_compared_with_the_best_dry_one() -> None:
    def pair(wall_us: float, protocol_us: float | None) -> Pair:
        return Pair(
            reference_us=(100.0,), candidate_us=(100.0,), wall_us=wall_us, protocol_us=protocol_us
        )

    pairs = [pair(500.0, 50.0), pair(150.0, 400.0), pair(90.0, None)]
    assert clock_ratios(pairs, PLAN) == [4.5, 1.0]
    assert is_cleared(pairs, PLAN)
    assert not is_cleared(pairs[:1], PLAN)
    assert clock_ratios(pairs[2:], PLAN) == []
