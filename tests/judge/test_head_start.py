"""What is begun while the compiler runs is used, or closed; what cannot be begun costs nothing."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.judge.scripted_means import ScriptedPool, scripted_means

from cuda_gym.core.task import Task
from cuda_gym.errors import TaskError, WorkerLost
from cuda_gym.judge.head_start import HeadStart
from cuda_gym.judge.means import Means
from cuda_gym.judge.sandbox.draw_plan import plan_draws, plan_hidden, surely_used


@pytest.fixture
def pool() -> ScriptedPool:
    return ScriptedPool()


@pytest.fixture
def means(pool: ScriptedPool, tmp_path: Path) -> Iterator[Means]:
    with ThreadPoolExecutor() as ahead:
        yield scripted_means(pool, ahead, tmp_path)


def finish(means: Means) -> None:
    """Wait for all that was begun."""
    means.ahead.shutdown(wait=True)


def test_the_candidate_that_was_begun_is_the_one_that_is_used(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    begun = HeadStart(scale_task, means, 7)
    finish(means)
    (forked,) = pool.forked
    assert forked.is_open
    used: object = begun.candidate()
    assert used is forked
    begun.abandon()
    assert not forked.is_closed, "it is the caller's"


def test_the_draws_that_will_be_asked_for_are_made_and_the_reference_is_free_again(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    HeadStart(scale_task, means, 7)
    finish(means)
    reference = pool.only_reference
    generator = random.Random(7)
    draws = plan_draws(reference.opened, generator)
    hidden = plan_hidden(reference.opened, generator, weights=draws[-1].weights)
    assert surely_used(hidden)
    assert reference.prepared == [*draws, *surely_used(hidden)]
    assert not reference.lock.locked()


def test_a_candidate_that_nobody_wants_any_more_is_closed(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    begun = HeadStart(scale_task, means, 7)
    begun.abandon()
    begun.abandon()
    finish(means)
    assert [candidate.is_closed for candidate in pool.forked] == [True]


def test_where_nothing_can_be_begun_the_candidate_is_made_when_it_is_asked_for(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    pool.can_fork_at_once = pool.is_idle = False
    begun = HeadStart(scale_task, means, 7)
    assert pool.forked == []
    used: object = begun.candidate()
    assert used is pool.forked[0]
    assert pool.only_reference.prepared == []


def test_what_fails_ahead_is_told_to_whoever_needs_it_and_to_nobody_else(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    def fail(draws: object) -> None:
        raise TaskError("A draw cannot be made.")

    pool.is_broken = True
    pool.only_reference.prepare = fail
    abandoned, used = (HeadStart(scale_task, means, 7) for _ in range(2))
    abandoned.abandon()
    with pytest.raises(WorkerLost):
        used.candidate()
    finish(means)
    assert not pool.only_reference.lock.locked()


def test_somebody_who_times_is_not_disturbed_by_what_is_begun(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    with means.lock.exclusive():
        begun = HeadStart(scale_task, means, 7)
        time.sleep(0.05)
        assert pool.forked == []
    used: object = begun.candidate()
    assert used is pool.forked[0]


def test_in_a_closed_judge_nothing_is_begun_and_nobody_waits_for_it(
    pool: ScriptedPool, means: Means, scale_task: Task
) -> None:
    finish(means)
    begun = HeadStart(scale_task, means, 7)
    assert not pool.only_reference.lock.locked()
    assert pool.forked == []
    begun.abandon()


def test_what_a_judge_is_closed_upon_is_lost_and_its_reference_free(
    pool: ScriptedPool, tmp_path: Path, scale_task: Task
) -> None:
    ends = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as ahead:
        ahead.submit(ends.wait)
        begun = HeadStart(scale_task, scripted_means(pool, ahead, tmp_path), 7)
        assert pool.only_reference.lock.locked()
        ahead.shutdown(wait=False, cancel_futures=True)
        assert not pool.only_reference.lock.locked()
        with pytest.raises(WorkerLost, match="closed"):
            begun.candidate()
        ends.set()
