"""A fault of the device is told as one, whichever step has found it."""

from __future__ import annotations

import errno
import linecache
import os
import sys
from dataclasses import replace
from types import ModuleType
from typing import NoReturn

import pytest
import torch

from cuda_gym.errors import OutOfDeviceMemory
from cuda_gym.judge.sandbox import candidate_loop
from cuda_gym.judge.sandbox.candidate import Candidate
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.device_faults import DeviceFault
from cuda_gym.judge.sandbox.handout import Handout
from cuda_gym.judge.sandbox.messages import Failed, Load, RegionSpec, Run
from cuda_gym.judge.sandbox.telling import MODEL_FILE
from cuda_gym.judge.toolchains.cuda_driver import DriverCallFailed

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


def answer(device: FaultyDevice, message: Run | Load = RUN) -> Failed:
    told = candidate_loop._answer(Candidate(device), device, message, (0, 0))
    assert isinstance(told, Failed)
    return told


@pytest.mark.parametrize(
    "error",
    [
        DeviceFault(FAULT),
        RuntimeError(f"CUDA error: {FAULT}\nSearch for ..."),
        torch.AcceleratorError(f"CUDA error: {FAULT}\nCUDA kernel errors might be asynchronous"),
        DriverCallFailed("cuMemHostRegister_v2", 700, FAULT),
    ],
)
def test_a_fault_that_is_found_before_a_call_is_one_of_the_submission(error: Exception) -> None:
    assert answer(FaultyDevice(error)) == Failed(kind="fault", message=FAULT)


def test_a_fault_that_a_call_has_caused_is_one_of_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FaultyDevice(DeviceFault(FAULT))
    working = CpuWorkerDevice()
    handout = Handout.of(working, [[torch.ones(4)]], [torch.empty(4)])
    run = replace(
        RUN,
        input_region=RegionSpec(number=1, num_bytes=handout.input_bytes),
        output_region=RegionSpec(number=2, num_bytes=handout.output_bytes),
        inputs=handout.trees,
        outputs=handout.specs,
    )

    def fail(*_: object, **__: object) -> NoReturn:
        device.synchronise()
        raise AssertionError

    monkeypatch.setattr(device, "open_region", working.open_region)
    monkeypatch.setattr(device, "timed_calls", fail)
    descriptors = handout.descriptors()
    told = candidate_loop._answer(Candidate(device), device, run, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    assert told == Failed(kind="fault", message=f"{FAULT}, in forward")


@pytest.fixture
def _own_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "model_new", ModuleType("model_new"))
    monkeypatch.setitem(linecache.cache, MODEL_FILE, (0, None, [], MODEL_FILE))


@pytest.mark.usefixtures("_own_module")
def test_a_fault_of_what_a_constructor_has_launched_is_found_before_the_next_step() -> None:
    told = answer(FaultyDevice(DeviceFault(FAULT)), LOAD)
    assert told == Failed(kind="fault", message=f"{FAULT}, while constructing ModelNew")


@pytest.mark.usefixtures("_own_module")
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DeviceFault(FAULT), "fault"),
        (RuntimeError(f"CUDA error: {FAULT}"), "fault"),
        (RuntimeError("CUDA error: operation not permitted when stream is capturing"), "raised"),
    ],
)
def test_where_a_submission_raises_for_a_fault_in_its_own_words_the_device_is_asked(
    error: Exception, kind: str
) -> None:
    source = LOAD.source.replace("pass", "def __init__(self): raise ValueError('status 700')")
    told = answer(FaultyDevice(error), replace(LOAD, source=source))
    assert told.kind == kind
    assert ("while constructing ModelNew" in told.message) == (kind == "fault")
    assert ("status 700" in told.message) == (kind == "raised")


@pytest.mark.usefixtures("_own_module")
def test_a_call_that_the_device_refused_is_no_fault_and_has_its_line() -> None:
    refusal = "CUDA error: invalid configuration argument\nCompile with ..."
    source = LOAD.source.replace("pass", f"def __init__(self): raise RuntimeError({refusal!r})")
    device = CpuWorkerDevice()
    told = candidate_loop._answer(Candidate(device), device, replace(LOAD, source=source), ())
    assert isinstance(told, Failed)
    assert told.kind == "raised"
    assert "invalid configuration argument" in told.message
    assert "model_new.py:5" in told.message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB."), "2.00 MiB"),
        (DriverCallFailed("cuMemHostRegister_v2", 2, "out of memory"), "cuMemHostRegister"),
        (OutOfDeviceMemory("No room for 4 bytes."), "4 bytes"),
        (MemoryError(), "MemoryError"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "Cannot allocate memory"),
    ],
)
def test_memory_that_the_judge_lacks_in_there_is_told_with_a_remedy(
    error: Exception, said: str
) -> None:
    told = answer(FaultyDevice(error))
    assert told.kind == "memory"
    assert said in told.message
    assert "Allocate what a call needs" in told.message


@pytest.mark.usefixtures("_own_module")
def test_memory_that_a_submission_lacks_itself_has_its_line() -> None:
    source = LOAD.source.replace("pass", "def __init__(self): raise MemoryError('out of memory')")
    device = CpuWorkerDevice()
    told = candidate_loop._answer(Candidate(device), device, replace(LOAD, source=source), ())
    assert isinstance(told, Failed)
    assert told.kind == "memory"
    assert "allocate what a call needs" in told.message
    assert "model_new.py:5" in told.message


def test_a_capture_that_was_left_open_is_told_and_ends_no_process() -> None:
    capturing = "operation not permitted when stream is capturing"
    told = answer(FaultyDevice(torch.AcceleratorError(f"CUDA error: {capturing}\nSearch for ...")))
    assert told.kind == "raised"
    assert capturing in told.message
    assert "end every capture" in told.message


@pytest.mark.parametrize("error", [RuntimeError("no fault"), OSError(errno.EBADF, "no fault")])
def test_another_error_of_the_harness_is_no_fault(error: Exception) -> None:
    with pytest.raises(type(error), match="no fault"):
        answer(FaultyDevice(error))
