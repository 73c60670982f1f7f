"""The device of a name, opened in a worker process."""

from __future__ import annotations

from cuda_gym.core.device import Device
from cuda_gym.judge.sandbox.cpu_worker import CpuWorkerDevice
from cuda_gym.judge.sandbox.cuda_worker import CudaWorkerDevice
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["open_worker_device"]


def open_worker_device(name: str) -> WorkerDevice:
    """The device of a name, in this process; on a GPU this makes its context.

    Raises:
        RuntimeError: the driver cannot be used, or has no memory left.
    """
    device = Device.parse(name)
    return CpuWorkerDevice() if device.kind == "cpu" else CudaWorkerDevice(device.index)
