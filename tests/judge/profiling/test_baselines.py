"""The times that a submission is compared with are those of a quiet machine."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cuda_gym.judge.profiling.baselines import Baseline, measured


def found(times: Sequence[tuple[float, float]]) -> tuple[Baseline, int]:
    """What comes of measurements of (eager, compiled), and how many there were; the last goes on."""
    seen: list[int] = []

    def measure(number: int) -> Baseline:
        seen.append(number)
        eager_us, compile_us = times[min(number, len(times) - 1)]
        return Baseline(eager_us=eager_us, compile_us=compile_us)

    best = measured(measure)
    assert seen == list(range(len(seen)))
    return best, len(seen)


@pytest.mark.parametrize("compile_us", [5.0, 20.0, 40.0])
def test_three_measurements_suffice_where_torch_compile_is_no_slower_than_it_may_be(
    compile_us: float,
) -> None:
    best, count = found([(25.0, compile_us + 2.0), (20.0, compile_us), (22.0, compile_us + 9.0)])
    assert (best, count) == (Baseline(eager_us=20.0, compile_us=compile_us), 3)


def test_one_that_was_disturbed_is_measured_until_it_is_not() -> None:
    best, count = found([(22.0, 956.0)] * 5 + [(30.0, 21.0)])
    assert (best, count) == (Baseline(eager_us=22.0, compile_us=21.0), 6)


def test_one_that_really_is_slow_is_believed_in_the_end() -> None:
    best, count = found([(22.0, 90.0)])
    assert (best, count) == (Baseline(eager_us=22.0, compile_us=90.0), 10)
