"""A race has the device alone, and a time that memory does not allow is void when it comes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.judge.scripted_means import LateExecutor, ScriptedPool, ScriptedReference, scripted_means

from cuda_gym.core.findings import Build
from cuda_gym.core.verdict import DeviceRates, Profile, Telemetry, Timing
from cuda_gym.errors import Refused, WrongOutput
from cuda_gym.judge.races import Raced, race_alone

BUILD = Build(key="k", library="/l.so", toolchain="nvcc", build_s=0.0, cached=True)
RATES = DeviceRates(
    copy_gb_per_s=4000.0,
    gflop_per_s=60_000.0,
    cache_bytes=50 << 20,
    num_cores=132,
    cached_gb_per_s=6000.0,
    peak_gb_per_s=4800.0,
)
NUM_BYTES = 4_800_000_000
"""Read, and written as well: 1 ms is too short for it, 3 ms are not."""
TIMING = Timing(
    time_us=3000.0,
    compile_us=3000.0,
    speedup=1.0,
    speedup_low=1.0,
    speedup_high=1.0,
    num_blocks=4,
    num_calls=100,
    timer="events behind a gate",
)


class Reference(ScriptedReference):
    """One that knows the device, and how often it was told to rest."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = {"written_bytes": NUM_BYTES, "influential_bytes": NUM_BYTES}
        self.rested = 0
        self.baseline: Any = None

    def rates(self) -> DeviceRates:
        return RATES

    def rest(self) -> None:
        self.rested += 1


class Match:
    """Races that take these times, one after the other; an error is raised instead."""

    def __init__(self, *times: float | Exception) -> None:
        self.left = list(times)

    def race(self, *_: Any, **__: Any) -> tuple[Timing, Profile]:
        time_us = self.left.pop(0)
        if isinstance(time_us, Exception):
            raise time_us
        return replace(TIMING, time_us=time_us), Profile()


class Closing(Executor):
    """Of a judge that is being closed: so much is taken yet, and none of it begun."""

    def __init__(self, *, num_taken: int) -> None:
        self.left = num_taken

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        del fn, args, kwargs
        if not self.left:
            raise RuntimeError("closed")
        self.left -= 1
        future: Future[Any] = Future()
        future.cancel()
        return future


def raced(
    folder: Path, times: Sequence[float | Exception], ahead: Executor | None = None
) -> tuple[Raced | Exception, int, int]:
    """What came of it, races that were not run, and how often the reference rested."""
    reference, match = Reference(), Match(*times)
    if ahead is None:
        ahead = at_once = LateExecutor()
        at_once.may_begin.set()
    means, any_reference, any_match = (
        scripted_means(ScriptedPool(), ahead, folder),
        reference,
        match,
    )
    given: dict[str, Any] = {"reference": any_reference, "match": any_match}
    came: Raced | Exception
    try:
        came = race_alone(means, **given, build=BUILD, prepare_ns=None, work=None)
    except (Refused, WrongOutput) as error:
        came = error
    with means.lock.exclusive():  # nobody holds it any more
        return came, len(match.left), reference.rested


def test_a_time_that_memory_allows_counts(tmp_path: Path) -> None:
    came, left, rested = raced(tmp_path, [3000.0, 5000.0])
    assert isinstance(came, Raced)
    assert (came.timing.time_us, came.profile.rates, left, rested) == (3000.0, RATES, 1, 1)


def test_a_time_below_the_floor_is_taken_once_more(tmp_path: Path) -> None:
    came, left, rested = raced(tmp_path, [1000.0, 3500.0])
    assert isinstance(came, Raced)
    assert (came.timing.time_us, left, rested) == (3500.0, 0, 1)


def test_a_time_that_is_below_the_floor_twice_is_refused_with_the_bytes(tmp_path: Path) -> None:
    came, left, rested = raced(tmp_path, [1000.0, 900.0])
    assert isinstance(came, Refused)
    assert "900" in str(came)
    assert (left, rested) == (0, 1)


@pytest.mark.parametrize("times", [[WrongOutput("wrong")], [1000.0, WrongOutput("wrong")]], ids=len)
def test_the_reference_rests_however_a_race_ends(tmp_path: Path, times: list[Any]) -> None:
    came, left, rested = raced(tmp_path, times)
    assert isinstance(came, WrongOutput)
    assert (left, rested) == (0, 1)


@pytest.mark.parametrize("num_taken", [0, 1, 2])
def test_a_race_that_was_run_while_the_judge_is_closed_counts_without_telemetry(
    tmp_path: Path, num_taken: int
) -> None:
    came, _, rested = raced(tmp_path, [3000.0], Closing(num_taken=num_taken))
    assert isinstance(came, Raced)
    assert (came.timing.time_us, came.telemetry, rested) == (3000.0, Telemetry(), 1)
