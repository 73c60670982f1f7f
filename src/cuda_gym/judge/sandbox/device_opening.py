"""The device of a name, opened in a worker process."""

from __future__ import annotations

import torch

from cuda_gym.core.device import Device
from cuda_gym.errors import MissingTool
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.cuda_worker import CudaWorkerDevice
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["open_worker_device"]


def open_worker_device(name: str, *, own_kernels: str = "") -> WorkerDevice:
    """The device of a name, in this process; on a GPU this makes its context.

    Args:
        name: `cpu`, `cuda:0`.
        own_kernels: Machine code of what seals and holds blocks there; empty where none is wanted.

    Raises:
        MissingTool: this torch cannot use a GPU.
        RuntimeError: the driver cannot be used, or has no memory left.
    """
    device = Device.parse(name)
    if device.kind == "cpu":
        return CpuWorkerDevice()
    if torch.version.cuda is None:
        raise MissingTool(
            f"The torch that is installed, {torch.__version__}, is not built for CUDA. Install one that is."
        )
    return CudaWorkerDevice(device.index, own_kernels=own_kernels)
