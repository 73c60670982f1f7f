"""A Verdict names under which conditions it holds, and what keeps it from a leaderboard."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from cuda_gym.core.device import Device
from cuda_gym.core.task import Task
from cuda_gym.core.verdict import Telemetry, Timing
from cuda_gym.judge.sandbox.conditions import fingerprint_of, isolation_of, why_unranked

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


def test_a_race_without_its_hidden_draws_is_not_ranked() -> None:
    left_out = replace(TIMING, num_left_out=2)
    told = "memory did not bear 2 hidden draws among the timed calls"
    assert why_unranked(FULL, left_out) == told


def test_who_disturbs_most_pairs_so_that_others_count_is_not_ranked() -> None:
    told = "5 pairs of blocks were disturbed, and only 4 were not"
    assert why_unranked(FULL, replace(TIMING, num_disturbed=5)) == told
    assert why_unranked(FULL, replace(TIMING, num_disturbed=4)) is None


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


def test_where_torchs_code_could_not_be_closed_nothing_is_ranked_on_cpu(scale_task: Task) -> None:
    cpu, gpu = Device("cpu"), Device.parse("cuda:0")
    open_, closed = (
        isolation_of(FULL, scale_task, closes_code=closes, reads_outputs=True)
        for closes in (False, True)
    )
    assert why_unranked(open_, TIMING, task=scale_task, device=cpu) == "isolation lacks closed-code"
    assert why_unranked(closed, TIMING, task=scale_task, device=cpu) is None
    assert why_unranked(open_, TIMING, task=scale_task, device=gpu) is None


def test_where_a_submission_copies_its_outputs_under_the_clock_nothing_is_ranked_on_cpu(
    scale_task: Task,
) -> None:
    copied = isolation_of(FULL, scale_task, closes_code=True)
    why = why_unranked(copied, TIMING, task=scale_task, device=Device("cpu"))
    assert why == "isolation lacks read-outputs"
    assert why_unranked(copied, TIMING, task=scale_task, device=Device.parse("cuda:0")) is None


def test_a_task_that_allows_library_calls_closes_nothing_and_misses_nothing(
    scale_task: Task,
) -> None:
    task = replace(scale_task, library=("gemm",))
    isolation = isolation_of(FULL, task, closes_code=True, reads_outputs=True)
    assert isolation == f"{FULL}+read-outputs"
    assert why_unranked(isolation, TIMING, task=task, device=Device("cpu")) is None


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
