"""Nothing of a call stays in the cache of a GPU because it was asked to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from cuda_gym.judge.sandbox.cuda_worker import CudaWorkerDevice
from cuda_gym.judge.sandbox.persisting_lines import PersistingLines

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU"),
]


@pytest.fixture
def set_aside() -> Iterator[None]:
    """A part of the cache is set aside by this process."""
    from cuda.bindings import driver

    torch.zeros(1, device="cuda")
    kind = driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE
    if int(driver.cuCtxSetLimit(kind, 1 << 20)[0]):
        pytest.skip("this GPU has no lines that stay")
    yield
    driver.cuCtxSetLimit(kind, 0)


@pytest.mark.alone  # a part that any process sets aside is seen by all
def test_no_part_of_the_cache_is_set_aside_to_begin_with() -> None:
    look = (
        "import torch; from cuda_gym.judge.sandbox.persisting_lines import PersistingLines; "
        "torch.zeros(1, device='cuda'); assert not PersistingLines().can_be_made()"
    )
    subprocess.run([sys.executable, "-c", look], check=True, timeout=100)


@pytest.mark.usefixtures("set_aside")
def test_a_part_that_was_set_aside_is_noticed() -> None:
    assert PersistingLines().can_be_made()


@pytest.mark.usefixtures("set_aside")
def test_calls_are_timed_where_lines_are_ended_before_each() -> None:
    device = CudaWorkerDevice(0)
    x = torch.ones(1024, device="cuda")
    timed = device.timed_calls(
        lambda t: t.mul_(2.0), [x] * 5, keep=lambda number, value: number, gate_ns=1_000_000
    )
    assert timed.kept == [0, 1, 2, 3, 4]
    assert len(timed.call_ns) == 5
