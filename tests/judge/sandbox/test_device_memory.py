"""Who takes a device's memory is found out by what is free once it is gone."""

from __future__ import annotations

from typing import Any

import pytest

from cuda_gym.errors import CandidateError, MachineError, OutOfDeviceMemory
from cuda_gym.judge.sandbox.device_memory import require_memory, require_not_others
from cuda_gym.judge.sandbox.open_reference import DeviceMemory

TOTAL = 24 << 30


class Machine:
    """A device of 24 GB: what a candidate holds, and what somebody else does."""

    def __init__(self, *, candidate: float, others: float) -> None:
        self.held, self.others = int(candidate * TOTAL), int(others * TOTAL)
        self.counts = True
        self.is_gone = False

    def probe(self) -> DeviceMemory | None:
        held = 0 if self.is_gone else self.held
        return DeviceMemory(free=TOTAL - held - self.others, total=TOTAL) if self.counts else None

    def close(self) -> None:
        self.is_closed = True

    def wait_until_gone(self) -> None:
        assert self.is_closed
        self.is_gone = True


def require(machine: Any, lacking: OutOfDeviceMemory | None = None) -> None:
    require_memory(machine, machine, lacking=lacking)


def test_whoever_leaves_enough_goes_on() -> None:
    machine = Machine(candidate=0.8, others=0.1)
    require(machine)
    assert not machine.is_gone


def test_whoever_takes_nearly_all_is_told_how_much() -> None:
    with pytest.raises(CandidateError, match=r"held 24,\d+,\d+,\d+ of the device's 25,769,803,776"):
        require(Machine(candidate=0.97, others=0.0))


def test_nobody_answers_for_what_others_take() -> None:
    with pytest.raises(MachineError, match="does not hold the others"):
        require(Machine(candidate=0.1, others=0.88))


def test_where_the_judge_lacks_memory_it_is_found_out_who_has_it() -> None:
    lacking = OutOfDeviceMemory("There is no room for 8 GB.")
    with pytest.raises(CandidateError):
        require(Machine(candidate=0.6, others=0.0), lacking)
    with pytest.raises(OutOfDeviceMemory, match="8 GB"):
        require(Machine(candidate=0.4, others=0.0), lacking)
    machine: Any = Machine(candidate=0.0, others=0.99)
    with pytest.raises(OutOfDeviceMemory, match="8 GB"):
        require_memory(machine, None, lacking=lacking)


def test_where_nobody_counts_nobody_is_asked() -> None:
    machine = Machine(candidate=1.0, others=0.0)
    machine.counts = False
    require(machine)
    assert not machine.is_gone


@pytest.mark.parametrize(("candidate", "others"), [(0.97, 0.0), (0.3, 0.3)])
def test_who_lacks_memory_has_to_answer_for_it_where_nobody_else_is_seen_to_hold_it(
    candidate: float, others: float
) -> None:
    machine: Any = Machine(candidate=candidate, others=others)
    require_not_others(machine, machine)


def test_who_lacks_memory_that_somebody_else_holds_answers_for_nothing() -> None:
    machine: Any = Machine(candidate=0.1, others=0.88)
    with pytest.raises(MachineError, match="does not hold the others"):
        require_not_others(machine, machine)
