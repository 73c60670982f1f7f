"""CUDA programs, built once for all tests of this folder."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuda_gym.core.findings import Build
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.build_cache import BuildCache
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.cuda_on_cpu.runtime import Runtime

PROGRAMS = Path(__file__).parent / "programs"


class Program:
    """The launchers of a built program, called with arrays and numbers."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.runtime = Runtime(build.library)
        self.runtime.set_num_threads(2)

    def __call__(self, name: str, *arguments: Any) -> int:
        function = getattr(self.runtime.library, name)
        return int(function(*map(_as_c, arguments)))


def _as_c(argument: Any) -> Any:
    if argument is None or isinstance(argument, np.ndarray):
        return ctypes.c_void_p(None if argument is None else argument.ctypes.data)
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    return ctypes.c_int(argument) if isinstance(argument, int) else argument


@pytest.fixture(scope="session")
def toolchain(cache_folder: Path) -> CpuToolchain:
    """One cache for the whole run: a process can load the runtime library of one cache only."""
    return CpuToolchain(BuildCache(cache_folder))


@pytest.fixture(scope="session")
def compile_source(toolchain: CpuToolchain) -> Callable[..., Program]:
    """Build one file from its text."""

    def build(text: str) -> Program:
        return Program(toolchain.build(Submission.of({"kernels/k.cu": text})))

    return build


@pytest.fixture(scope="session")
def program(toolchain: CpuToolchain) -> Callable[..., Program]:
    """Build files of `programs/`, the first time that they are asked for."""

    def build(*names: str) -> Program:
        files = {f"kernels/{name}": (PROGRAMS / name).read_text() for name in names}
        return Program(toolchain.build(Submission.of(files)))

    return build
