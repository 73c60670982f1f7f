from __future__ import annotations

import subprocess
import sys

import pytest

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.profiling.gpus import list_gpus
from cuda_gym.judge.toolchains.cpu import CpuToolchain
from cuda_gym.judge.toolchains.registry import make_toolchain, resolve_device

without_gpu = pytest.mark.skipif(bool(list_gpus()), reason="there is a GPU")


def test_a_processor_is_always_there() -> None:
    assert resolve_device("cpu") == Device("cpu")
    assert isinstance(make_toolchain(Device("cpu")), CpuToolchain)


@without_gpu
def test_auto_is_the_processor_where_there_is_no_gpu() -> None:
    assert resolve_device("auto") == Device("cpu")


@without_gpu
@pytest.mark.parametrize("text", ["cuda", "cuda:3"])
def test_a_gpu_that_is_not_there_is_told_with_the_reason(text: str) -> None:
    with pytest.raises(MissingTool, match=rf"There is no {Device.parse(text)}\b.*driver"):
        resolve_device(text)
    with pytest.raises(MissingTool):
        make_toolchain(Device.parse(text))


def test_what_is_no_device_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="There is no device 'gpu'"):
        resolve_device("gpu")


def test_importing_it_imports_no_toolchain() -> None:
    program = (
        "import sys; import cuda_gym.judge.toolchains.registry; "
        "heavy = [m for m in sys.modules if m.split('.')[0] == 'torch' or 'toolchains.c' in m]; "
        "print(heavy)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"
