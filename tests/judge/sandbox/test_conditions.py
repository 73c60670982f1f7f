"""A Verdict names under which conditions it holds, and what keeps it from a leaderboard."""

from __future__ import annotations

from dataclasses import fields

import pytest

from cuda_gym.core.task import Task
from cuda_gym.core.verdict import Telemetry, Timing
from cuda_gym.judge.sandbox.conditions import fingerprint_of, why_unranked

FULL = "user+pid+network+ipc+mount+seccomp+rlimits"
TIMING = Timing(
    time_us=5.0,
    compile_us=10.0,
    speedup=2.0,
    speedup_low=1.9,
    speedup_high=2.1,
    num_blocks=4,
    num_calls=100,
    timer="events behind a gate",
)


def test_behind_all_walls_on_a_quiet_machine_it_may_be_ranked() -> None:
    assert why_unranked(FULL, TIMING) is None
    assert why_unranked(FULL, TIMING, Telemetry(num_other_processes=0)) is None
    assert why_unranked(FULL, None, Telemetry()) is None


@pytest.mark.parametrize(
    ("isolation", "missing"),
    [
        ("seccomp+rlimits", "mount, network, pid, user"),
        ("user+network+ipc+mount+seccomp+rlimits", "pid"),
        ("user+pid+network+ipc+mount+rlimits", "seccomp"),
    ],
)
def test_every_wall_that_is_missing_is_named(isolation: str, missing: str) -> None:
    assert why_unranked(isolation, TIMING) == f"isolation lacks {missing}"


def test_others_on_the_gpu_are_a_reason() -> None:
    why = why_unranked(FULL, TIMING, Telemetry(num_other_processes=2))
    assert why == "2 other processes used the GPU"


def test_verdicts_are_compared_only_where_every_condition_is_equal(scale_task: Task) -> None:
    conditions = {
        name: name for name in ("isolation", "device", "toolchain", "torch", "timer", "transport")
    }
    one = fingerprint_of(scale_task, **conditions)
    assert one == fingerprint_of(scale_task, **conditions)
    assert {field.name for field in fields(one)} == {*conditions, "judge", "task", "compile_mode"}
    for name in conditions:
        assert one != fingerprint_of(scale_task, **conditions | {name: "another"})
