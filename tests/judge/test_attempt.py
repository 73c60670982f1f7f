"""An attempt takes its locks in an order in which nobody waits for ever; scripted processes play along."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.judge.scripted_means import (
    LateExecutor,
    ScriptedCandidate,
    ScriptedPool,
    ScriptedReference,
    scripted_means,
)

from cuda_gym.core.findings import Build, Findings, Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.errors import UnsupportedOnDevice
from cuda_gym.judge.attempt import Attempt
from cuda_gym.judge.sandbox.candidate_faults import NoMemoryLeft
from cuda_gym.judge.sandbox.open_reference import DeviceMemory

BUILD = Build(key="k", library="/l.so", toolchain="nvcc", build_s=0.0, cached=True)
COMPILED = Findings(outcome=None, summary="Compiled.", build=BUILD)


def test_whoever_wants_to_time_stops_no_attempt_whose_candidate_is_begun_late(
    tmp_path: Path, scale_task: Task, scale_submission: Submission
) -> None:
    pool, ahead = ScriptedPool(), LateExecutor()
    pool.is_idle = False
    means = scripted_means(pool, ahead, tmp_path)
    attempt = Attempt(scale_task, scale_submission, means)
    attempt.begin()

    def time_alone() -> None:
        with means.lock.exclusive():
            pass

    running = threading.Thread(target=attempt.run, args=(COMPILED,), daemon=True)
    timing = threading.Thread(target=time_alone, daemon=True)
    for thread in (running, timing):
        thread.start()
        time.sleep(0.1)
    ahead.may_begin.set()
    for thread in (running, timing):
        thread.join(5.0)
        assert not thread.is_alive()
    assert attempt.findings.outcome is Outcome.MACHINE_ERROR
    assert "The script ends here" in attempt.findings.summary
    assert [candidate.is_closed for candidate in pool.forked] == [True]


def test_a_submission_is_loaded_while_somebody_else_has_the_reference(
    tmp_path: Path, scale_task: Task, scale_submission: Submission
) -> None:
    pool, ahead = ScriptedPool(), LateExecutor()
    ahead.may_begin.set()
    pool.known_init_args = {"list": []}
    attempt = Attempt(scale_task, scale_submission, scripted_means(pool, ahead, tmp_path))
    attempt.begin()
    with pool.reference(scale_task):
        running = threading.Thread(target=attempt.run, args=(COMPILED,), daemon=True)
        running.start()
        while not any(candidate.loaded for candidate in pool.forked):
            time.sleep(0.01)
        assert running.is_alive()
        assert attempt.findings.outcome is None
    running.join(5.0)
    assert attempt.findings.outcome is Outcome.MACHINE_ERROR
    assert "The script ends here, at Load" in attempt.findings.summary
    assert [candidate.is_closed for candidate in pool.forked] == [True]


class RestedReference(ScriptedReference):
    """Counts how often it was told to rest."""

    rested = 0

    def rest(self) -> None:
        self.rested += 1


class Checks:
    """Finds nothing, or cannot look."""

    def __init__(self, *, can_look: bool) -> None:
        self.can_look = can_look

    def build(self, _: Submission) -> Future[Build]:
        done: Future[Build] = Future()
        done.set_result(BUILD)
        return done

    def run(self, *_: Any) -> tuple[()]:
        if not self.can_look:
            raise UnsupportedOnDevice("There is no tool.")
        return ()


@pytest.mark.parametrize(
    ("can_look", "outcome"),
    [(True, Outcome.CORRECT), (False, Outcome.UNSUPPORTED_ON_DEVICE)],
)
def test_after_a_check_of_memory_the_reference_rests_whatever_came_of_it(
    can_look: bool, outcome: Outcome, tmp_path: Path, scale_task: Task, scale_submission: Submission
) -> None:
    pool, checks = ScriptedPool(), Checks(can_look=can_look)
    pool.only_reference = RestedReference()
    any_checks: Any = checks
    means = replace(scripted_means(pool, LateExecutor(), tmp_path), checks=any_checks)
    attempt = Attempt(scale_task, scale_submission, means)
    attempt.check_memory(COMPILED)
    assert attempt.findings.outcome is outcome
    assert pool.only_reference.rested == 1


class FullReference(ScriptedReference):
    """Sees a device of 100 bytes, of which somebody holds most until the candidate is gone, or for ever."""

    def __init__(self, candidate: ScriptedCandidate, *, free: int, held_by_others: bool) -> None:
        super().__init__()
        self._candidate = candidate
        self._free = free
        self._held_by_others = held_by_others

    def probe(self) -> DeviceMemory:
        is_free = self._candidate.is_closed and not self._held_by_others
        return DeviceMemory(free=100 if is_free else self._free, total=100)


class LackingCandidate(ScriptedCandidate):
    """Says that there is no memory left."""

    def load(self, message: Any, **_: Any) -> Any:
        raise NoMemoryLeft("CUDA out of memory. Tried to allocate 2.00 GiB.")


@pytest.mark.parametrize(
    ("free", "held_by_others", "outcome"),
    [
        (3, True, Outcome.MACHINE_ERROR),
        (3, False, Outcome.RUNTIME_ERROR),
        (60, True, Outcome.RUNTIME_ERROR),
    ],
)
def test_who_says_that_no_memory_is_left_is_believed_where_others_are_seen_to_hold_it(
    free: int,
    held_by_others: bool,
    outcome: Outcome,
    tmp_path: Path,
    scale_task: Task,
    scale_submission: Submission,
) -> None:
    pool, candidate, ahead = ScriptedPool(), LackingCandidate(), LateExecutor()
    ahead.may_begin.set()
    any_pool: Any = pool
    any_pool.fork = lambda: candidate
    pool.only_reference = FullReference(candidate, free=free, held_by_others=held_by_others)
    attempt = Attempt(scale_task, scale_submission, scripted_means(pool, ahead, tmp_path))
    attempt.run(COMPILED)
    assert attempt.findings.outcome is outcome
    told = "submission does not hold the others" if outcome is Outcome.MACHINE_ERROR else "2.00 GiB"
    assert told in attempt.findings.summary
