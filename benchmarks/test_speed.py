"""What a user waits for, by pytest-benchmark: importing, turns of an episode, and builds.

    pytest -o addopts=--import-mode=importlib benchmarks/test_speed.py

Every build is of a text that was never compiled, in a cache of its own. `make test` collects none of this.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import pytest
from benchmarks.on_gpu.problems import bias_gelu, fresh, kernel_only

from cuda_gym.core.device import Device
from cuda_gym.core.findings import Build, Findings
from cuda_gym.core.task import Submission, Task
from cuda_gym.core.verdict import Verdict
from cuda_gym.envs.actions import ToolCall, format_action
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.nvcc import NvccToolchain
from cuda_gym.judge.toolchains.nvrtc import NvrtcToolchain

ARCHITECTURE = "sm_90"
LAUNCHER = bias_gelu(64, 1024).submission
KERNEL_ONLY = kernel_only().submission


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> BuildCache:
    return BuildCache(tmp_path_factory.mktemp("builds"))


class NobodyJudges:
    """In the place of a judge: none of the turns below has anything judged, nor anything warmed."""

    device = Device("cpu")

    def warm(self, task: Task) -> None:
        """Nothing."""

    def compile(self, task: Task, submission: Submission) -> Findings:
        raise NotImplementedError

    def verify(self, task: Task, submission: Submission, *, check: str = "values") -> Findings:
        raise NotImplementedError

    def judge(self, task: Task, submission: Submission, *, counters: bool = False) -> Verdict:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing."""


@pytest.fixture
def env() -> Iterator[gym.Env[Any, Any]]:
    """An episode of many turns."""
    env: gym.Env[Any, Any] = gym.make(
        "cuda_gym:CudaKernel-v0",
        task="core/row_sum",
        judge=NobodyJudges(),
        max_turns=1_000_000,
        disable_env_checker=True,
    )
    env.reset(seed=1)
    yield env
    env.close()


def cold_builds(benchmark: Any, build: Callable[..., Build], submission: Submission) -> None:
    """Some builds of new texts, after one that warms what stays."""
    try:
        build(fresh(submission))
    except MissingTool as error:
        pytest.skip(str(error))
    benchmark.pedantic(build, setup=lambda: ((fresh(submission),), {}), rounds=5)


@pytest.mark.parametrize("module", ["cuda_gym", "cuda_gym.judge.judge"])
def test_import(benchmark: Any, module: str) -> None:
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(lambda: subprocess.run(command, check=True), rounds=5, warmup_rounds=1)


def test_reset(benchmark: Any, env: gym.Env[Any, Any]) -> None:
    benchmark.pedantic(lambda: env.reset(seed=1), rounds=20, warmup_rounds=2)


@pytest.mark.parametrize(
    "action",
    [
        format_action(call=ToolCall("list_files")),
        format_action(call=ToolCall("read_skill", {"name": "launchers"})),
        format_action(dict(LAUNCHER.files)),
        "no action at all",
    ],
    ids=["list_files", "read_skill", "write", "unreadable"],
)
def test_turn(benchmark: Any, env: gym.Env[Any, Any], action: str) -> None:
    benchmark.pedantic(lambda: env.step(action), rounds=20, warmup_rounds=2)


def test_build_by_nvcc(benchmark: Any, cache: BuildCache) -> None:
    cold_builds(benchmark, NvccToolchain(ARCHITECTURE, cache).build, LAUNCHER)


def test_build_of_kernels_alone(benchmark: Any, cache: BuildCache) -> None:
    cold_builds(benchmark, NvrtcToolchain(ARCHITECTURE, cache).build, KERNEL_ONLY)


def test_build_for_cpu(benchmark: Any, cache: BuildCache) -> None:
    cold_builds(benchmark, CpuToolchain(cache).build, LAUNCHER)
