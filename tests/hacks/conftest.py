"""Judges for exploits: their races are short, but long enough for the judge to believe its own clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuda_gym.core.device import Device
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling.timing_plan import CPU_PLAN, GPU_PLAN, TimingPlan
from cuda_gym.judge.sandbox.deadlines import Deadlines

DEADLINES = Deadlines(load_s=6.0, run_s=6.0)


@pytest.fixture(scope="session")
def hacks_judge(cache_folder: Path) -> Iterator[Judge]:
    """On `cpu`. Four pairs of blocks: a false clock is refused where two undisturbed ones agree."""
    plan = replace(CPU_PLAN, block_s=0.02, min_pairs=4, max_pairs=8, max_race_s=0.5)
    yield from _judge("cpu", plan, cache_folder)


@pytest.fixture(scope="session")
def hacks_judge_on_gpu(cache_folder: Path) -> Iterator[Judge]:
    """On the first GPU, with the plan of a real judge."""
    yield from _judge("cuda:0", GPU_PLAN, cache_folder)


def _judge(device: str, plan: TimingPlan, folder: Path) -> Iterator[Judge]:
    config = JudgeConfig(
        memory_bytes=2 << 30, timing=plan, folder=folder, deadlines=DEADLINES, max_references=2
    )
    judge = Judge(Device.parse(device), config)
    yield judge
    judge.close()
