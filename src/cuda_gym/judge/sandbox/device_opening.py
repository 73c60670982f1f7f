"""The device of a name, opened in a worker process."""

from __future__ import annotations

import torch

from cuda_gym.core.device import Device
from cuda_gym.errors import DeviceLost, MissingTool, OutOfDeviceMemory
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.cuda_worker import CudaWorkerDevice
from cuda_gym.judge.sandbox.device_faults import REMEDY, lacks_memory
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.toolchains.cuda_driver import DriverCallFailed

__all__ = ["open_worker_device"]


def open_worker_device(name: str, *, own_kernels: str = "") -> WorkerDevice:
    """The device of a name, in this process; on a GPU this makes its context.

    Nothing of a task or a submission has run then, so that no failure is theirs.

    Args:
        name: `cpu`, `cuda:0`.
        own_kernels: Machine code of what seals and holds blocks there; empty where none is wanted.

    Raises:
        MissingTool: this torch cannot use a GPU.
        OutOfDeviceMemory: there is no memory left on it.
        DeviceLost: the device or its driver cannot be used.
    """
    device = Device.parse(name)
    if device.kind == "cpu":
        return CpuWorkerDevice()
    if torch.version.cuda is None:
        raise MissingTool(
            f"The torch that is installed, {torch.__version__}, is not built for CUDA. Install one that is."
        )
    try:
        return CudaWorkerDevice(device.index, own_kernels=own_kernels)
    except _FAILURES as error:
        said = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        if lacks_memory(error):
            raise OutOfDeviceMemory(
                f"There is no memory left on {name} to begin with: {said}. End what else uses it; "
                "`nvidia-smi` lists that."
            ) from error
        raise DeviceLost(f"The device {name} cannot be opened: {said}. {REMEDY}") from error


_FAILURES = (
    RuntimeError, AssertionError, ImportError, OSError, DriverCallFailed, torch.cuda.DeferredCudaCallError,
)  # fmt: skip
"""What torch and the driver raise of one that is not there, is lost, or whose driver does not fit."""
