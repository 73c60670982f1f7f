from __future__ import annotations

import subprocess

import pytest
import torch

from cuda_gym.core.verdict import Telemetry
from cuda_gym.judge.profiling.nvml import read_gpu


def test_a_card_that_is_not_there_has_nothing_to_tell() -> None:
    assert read_gpu("GPU-00000000-0000-0000-0000-000000000000") == Telemetry()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU")
def test_a_card_tells_its_clock_and_temperature() -> None:
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        check=True,
    )
    told = read_gpu(listed.stdout.split()[0])
    assert told.clock_mhz is not None
    assert 100 < told.clock_mhz < 5000
    assert told.temperature_c is not None
    assert 10 < told.temperature_c < 110
