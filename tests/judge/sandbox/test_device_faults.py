"""A kernel that was stopped, a call that was refused and a device that is lost are three things."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from cuda_gym.errors import DeviceLost, OutOfDeviceMemory, WorkerLost
from cuda_gym.judge.sandbox import cuda_regions
from cuda_gym.judge.sandbox.cuda_regions import CudaRegion
from cuda_gym.judge.sandbox.device_faults import (
    DeviceFault,
    fault_during,
    fault_in,
    lost_device,
)
from cuda_gym.judge.toolchains.cuda_driver import DriverCallFailed

ILLEGAL = "an illegal memory access was encountered"


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (torch.AcceleratorError(f"CUDA error: {ILLEGAL}\nSearch for `cudaError...'"), ILLEGAL),
        (RuntimeError(f"CUDA driver error: {ILLEGAL}"), ILLEGAL),
        (RuntimeError(f"Triton Error [CUDA]: {ILLEGAL}"), ILLEGAL),
        (
            RuntimeError("CUDA error: operation not supported on global/shared address space"),
            "operation not supported on global/shared address space",
        ),
        (RuntimeError("CUDA error: something new"), "something new"),
        (DriverCallFailed("cuEventCreate", 719, "unspecified launch failure"),
         "unspecified launch failure"),
    ],
)  # fmt: skip
def test_a_fault_has_the_words_of_the_driver_alone(error: Exception, fault: str) -> None:
    assert fault_in(error) == fault


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: invalid configuration argument\nCompile with ..."),
        RuntimeError("CUDA error: operation not permitted when stream is capturing"),
        RuntimeError("CUDA error: too many resources requested for launch"),
        RuntimeError("CUDA error: out of memory"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        DriverCallFailed("cuLaunchKernel", 1, "invalid argument"),
        DriverCallFailed("cuModuleLoadData", 2, "out of memory"),
        ValueError(f"CUDA error: {ILLEGAL}"),
    ],
)
def test_whoever_can_go_on_has_no_fault(error: Exception) -> None:
    assert fault_in(error) is None
    with pytest.raises(type(error)), fault_during("forward"):
        raise error


def test_a_fault_has_the_step_in_which_it_came_up() -> None:
    with pytest.raises(DeviceFault, match=ILLEGAL) as caught, fault_during("forward"):
        raise DriverCallFailed("cuMemHostRegister_v2", 700, ILLEGAL)
    assert caught.value.step == "forward"


def scripted_driver(*, status: int, name: str, text: str) -> Any:
    """NVIDIA's bindings, of which every call of memory gives one status."""
    kinds = SimpleNamespace(
        CU_MEM_ALLOCATION_TYPE_PINNED=1,
        CU_MEM_LOCATION_TYPE_DEVICE=1,
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR=1,
        CU_MEM_ALLOC_GRANULARITY_MINIMUM=0,
    )
    return SimpleNamespace(
        CUmemAllocationProp=lambda: SimpleNamespace(location=SimpleNamespace()),
        CUmemAllocationType=kinds,
        CUmemLocationType=kinds,
        CUmemAllocationHandleType=kinds,
        CUmemAllocationGranularity_flags=kinds,
        cuMemGetAllocationGranularity=lambda *_: (0, 1 << 21),
        cuMemCreate=lambda *_: (status, None),
        cuMemImportFromShareableHandle=lambda *_: (status, None),
        cuGetErrorName=lambda _: (0, name.encode()),
        cuGetErrorString=lambda _: (0, text.encode()),
    )


@pytest.mark.parametrize(
    ("status", "name", "text", "kind", "said"),
    [
        (700, "CUDA_ERROR_ILLEGAL_ADDRESS", ILLEGAL, DeviceFault, f"^{ILLEGAL}$"),
        (999, "CUDA_ERROR_UNKNOWN", "unknown error", DeviceFault, "^unknown error$"),
        (
            2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory", OutOfDeviceMemory,
            r"error 2\): out of memory, where 4,194,304 bytes were asked for. End what else uses",
        ),
        (
            801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported", WorkerLost,
            r"CUDA_ERROR_NOT_SUPPORTED \(error 801\): operation not supported. `cuda-gym doctor`",
        ),
    ],
)  # fmt: skip
def test_memory_that_is_shared_first_shows_what_a_kernel_has_done(
    status: int,
    name: str,
    text: str,
    kind: type[Exception],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = scripted_driver(status=status, name=name, text=text)
    monkeypatch.setattr(cuda_regions, "_driver", lambda: driver)
    with pytest.raises(kind, match=said):
        CudaRegion.create(3 << 20, 0)
    with pytest.raises(kind):
        CudaRegion.open(3, 3 << 20, 0)


def test_a_lost_device_is_told_with_what_to_do() -> None:
    lost = lost_device("no CUDA-capable device is detected")
    assert type(lost) is DeviceLost
    for word in ("no CUDA-capable device", "nvidia-smi", "dmesg", "Xid", "cuda-gym doctor"):
        assert word in str(lost)
    assert lost_device(ILLEGAL) is None
