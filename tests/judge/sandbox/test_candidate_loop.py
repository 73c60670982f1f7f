"""A fault of the device is told as one, whichever step has found it."""

from __future__ import annotations

import linecache
import sys
from types import ModuleType
from typing import NoReturn

import pytest

from cuda_gym.judge.sandbox import candidate_loop
from cuda_gym.judge.sandbox.candidate import Candidate
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.messages import Failed, Load, RegionSpec, Run
from cuda_gym.judge.sandbox.telling import MODEL_FILE
from cuda_gym.judge.sandbox.worker_device import DeviceFault

FAULT = "an illegal memory access was encountered"
REGION = RegionSpec(number=1, num_bytes=1)
RUN = Run(input_region=REGION, output_region=REGION, inputs=(), outputs=(), poison=False, dry=False)


LOAD = Load(
    source="from torch import nn\n\n\nclass ModelNew(nn.Module):\n    pass\n",
    library="",
    form="",
    launchers=(),
    kernels=(),
    allowed_library=("gemm",),  # nothing is closed for it in this process
    allow_tf32=False,
    init_args={"list": []},
    num_threads=1,
    check_blocks=0,
)


class FaultyDevice(CpuWorkerDevice):
    """One that nothing works on any more."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def open_region(self, spec: object, descriptor: int, *, is_output: bool) -> NoReturn:
        raise self._error

    def synchronise(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    "error", [DeviceFault(FAULT), RuntimeError(f"CUDA error: {FAULT}\nSearch for ...")]
)
def test_a_fault_that_is_found_before_a_call_is_one_of_the_submission(error: Exception) -> None:
    answer = candidate_loop._answer(Candidate(FaultyDevice(error)), RUN, (0, 0))
    assert answer == Failed(kind="fault", message=FAULT)


def test_a_fault_of_what_a_constructor_has_launched_is_found_before_the_next_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "model_new", ModuleType("model_new"))
    monkeypatch.setitem(linecache.cache, MODEL_FILE, (0, None, [], MODEL_FILE))
    answer = candidate_loop._answer(Candidate(FaultyDevice(DeviceFault(FAULT))), LOAD, ())
    assert answer == Failed(kind="fault", message=FAULT)


def test_another_error_of_the_harness_is_no_fault() -> None:
    with pytest.raises(RuntimeError, match="no fault"):
        candidate_loop._answer(Candidate(FaultyDevice(RuntimeError("no fault"))), RUN, (0, 0))
