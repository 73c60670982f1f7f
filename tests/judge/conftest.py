"""A judge on a GPU, for tests of this folder that need one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.judge.cuda_cases import RUN_S

from cuda_gym.core.device import Device
from cuda_gym.judge.judge import Judge, JudgeConfig
from cuda_gym.judge.profiling.timing_plan import GPU_PLAN
from cuda_gym.judge.sandbox.deadlines import Deadlines


@pytest.fixture(scope="module")
def cuda_judge(cache_folder: Path) -> Iterator[Judge]:
    """With short deadlines and short races."""
    config = JudgeConfig(
        timing=replace(GPU_PLAN, max_pairs=4),
        folder=cache_folder,
        deadlines=Deadlines(load_s=10.0, run_s=RUN_S),
    )
    judge = Judge(Device("cuda"), config)
    yield judge
    judge.close()
