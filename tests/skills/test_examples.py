"""Every complete example in a skill is built and run on each device that the skill names."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest
import torch
from tests.skills.examples import example, task_of
from tests.skills.on_gpu import worst_error_on_gpu

from cuda_gym.core.findings import Outcome
from cuda_gym.envs.skills import skills
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.nvcc import NvccToolchain

WITH_EXAMPLE = [name for name in skills().skills if example(name) is not None]


def on(kind: str) -> list[str]:
    """The skills with an example for a kind of device."""
    return [name for name in WITH_EXAMPLE if kind in skills().skills[name].devices]


@pytest.mark.parametrize("skill", on("cpu"))
def test_the_example_is_right_and_its_memory_clean_on_cpu(skill: str, judge: Judge) -> None:
    task, submission = task_of(skill), example(skill)
    assert submission is not None
    findings = judge.verify(task, submission)
    assert findings.outcome is Outcome.CORRECT, findings.summary
    assert findings.memory == ()
    assert findings.diagnostics == ()
    assert findings.build is not None
    assert {kernel.mode for kernel in findings.build.kernels} <= {"loop", "phases"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.parametrize("skill", on("cuda"))
def test_nvcc_compiles_the_example_without_a_warning(skill: str, tmp_path: Path) -> None:
    submission = example(skill)
    assert submission is not None
    build = NvccToolchain("sm_90", BuildCache(tmp_path)).build(submission)
    assert build.diagnostics == ()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
@pytest.mark.parametrize("skill", on("cuda"))
def test_the_example_is_right_on_a_gpu(
    skill: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, submission = task_of(skill), example(skill)
    assert submission is not None
    for seed in (1, 2):
        error = worst_error_on_gpu(task, submission, tmp_path, monkeypatch, seed=seed)
        assert math.isfinite(error)
        assert error <= 1.0
