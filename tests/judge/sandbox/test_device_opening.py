"""Who cannot open a device has done nothing there yet: it is the machine's fault, whatever torch raises for it."""

from __future__ import annotations

import pytest
import torch

from cuda_gym.errors import DeviceLost, MachineError, MissingTool, OutOfDeviceMemory
from cuda_gym.judge.sandbox import device_opening
from cuda_gym.judge.sandbox.device_opening import open_worker_device
from cuda_gym.judge.toolchains.cuda_driver import DriverCallFailed

# As torch 2.11 and 2.13 have them.
LOST = [
    RuntimeError("No CUDA GPUs are available"),
    RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"),
    RuntimeError("The NVIDIA driver on your system is too old (found version 11040). Please update"),
    RuntimeError(
        "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
        "NumCudaDevices() that might have already set an error? Error 802: system not yet initialized"
    ),
    RuntimeError("CUDA driver initialization failed, you might not have a CUDA gpu."),
    RuntimeError("CUDA unknown error - this may be due to an incorrectly set up environment, e.g. ..."),
    torch.AcceleratorError("CUDA error: invalid device ordinal\nSearch for `cudaErrorInvalidDevice'"),
    torch.AcceleratorError("CUDA error: CUDA-capable device(s) is/are busy or unavailable"),
    torch.AcceleratorError("CUDA error: unspecified launch failure"),
    torch.cuda.DeferredCudaCallError("CUDA call failed lazily at initialization with error: unknown"),
    AssertionError("libcudart functions unavailable. It looks like you have a broken build?"),
    ImportError("libcuda.so.1: cannot open shared object file: No such file or directory"),
    DriverCallFailed("cuModuleLoadData", 214, "uncorrectable ECC error encountered"),
]  # fmt: skip
FULL = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 120.00 MiB. GPU 0 has a total"),
    torch.AcceleratorError("CUDA error: out of memory\nCUDA kernel errors might be"),
    DriverCallFailed("cuModuleLoadData", 2, "out of memory"),
]


def open_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> MachineError:
    """What is raised where torch raises an error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(device_opening, "CudaWorkerDevice", fail)
    with pytest.raises(MachineError) as caught:
        open_worker_device("cuda:0")
    return caught.value


@pytest.mark.parametrize("error", LOST, ids=lambda error: str(error)[:30])
def test_a_device_that_cannot_be_opened_is_lost(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = open_with(error, monkeypatch)
    assert type(lost) is DeviceLost
    assert str(lost).startswith(f"The device cuda:0 cannot be opened: {str(error)[:20]}")
    for word in ("nvidia-smi", "Xid", "cuda-gym doctor"):
        assert word in str(lost)


@pytest.mark.parametrize("error", FULL, ids=lambda error: str(error)[:30])
def test_a_device_that_is_full_is_told_as_that(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = open_with(error, monkeypatch)
    assert type(full) is OutOfDeviceMemory
    assert "no memory left on cuda:0" in str(full)


def test_a_torch_without_cuda_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(MissingTool, match="not built for CUDA"):
        open_worker_device("cuda:0")
