"""A machine with NVRTC and without nvcc: kernels without host code are built, and the rest is told what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.judge.toolchains.test_cuda import (
    CALLS_LAUNCHER,
    FIRST,
    HOPPER,
    KERNEL,
    LAUNCHER,
    LAUNCHES,
)

from cuda_gym.core.findings import BuildForm
from cuda_gym.core.task import Submission
from cuda_gym.errors import MissingTool
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cuda import CudaToolchain
from cuda_gym.judge.toolchains.nvrtc_pool import warm

pytestmark = pytest.mark.skipif(not warm(), reason="there is no NVRTC")


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CudaToolchain:
    monkeypatch.setenv("CUDA_GYM_NVCC", str(tmp_path / "nvcc"))
    return CudaToolchain(FIRST, BuildCache(tmp_path / "cache"), gpu=HOPPER)


def test_kernels_without_host_code_are_built(toolchain: CudaToolchain) -> None:
    build = toolchain.build(Submission.of({"kernels/a.cu": KERNEL, "model_new.py": LAUNCHES}))
    assert build.form is BuildForm.CUBIN
    assert build.toolchain.startswith("nvrtc ")
    assert [kernel.name for kernel in build.kernels] == ["scale"]


def test_the_judges_own_kernels_are_built(toolchain: CudaToolchain) -> None:
    assert Path(toolchain.own_kernels()).read_bytes().startswith(b"\x7fELF")


def test_a_launcher_is_told_what_is_missing(toolchain: CudaToolchain) -> None:
    files = {"kernels/a.cu": KERNEL + LAUNCHER, "model_new.py": CALLS_LAUNCHER}
    with pytest.raises(MissingTool, match="nvcc"):
        toolchain.build(Submission.of(files))
