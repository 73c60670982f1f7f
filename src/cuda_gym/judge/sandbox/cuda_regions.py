"""Memory of a GPU that processes share: allocations of their own, exported as file descriptors.

The reference makes a region, exports it, and sends the descriptor over a channel; a candidate opens
it, and both see the same memory. Made through the driver's virtual-memory functions, so that a region is all
that is shared: the other way, IPC handles, would map whatever else the allocator keeps in the same block.

Nothing can be sealed here: whoever has the descriptor may write. So what a region held is never
read again by the reference but as what a candidate has left there, and copied before it is looked at.

Not covered: platforms without this (WSL, some virtual GPUs); `is_supported` tells. Opening a handle that a
candidate made: nobody here does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuda_gym.errors import OutOfDeviceMemory, WorkerLost
from cuda_gym.judge.sandbox.device_faults import DeviceFault, is_fault
from cuda_gym.judge.sandbox.messages import (
    TensorSpec,
)
from cuda_gym.judge.sandbox.transport import tensor_at

if TYPE_CHECKING:
    import torch

__all__ = ["CudaRegion", "is_supported"]


class CudaRegion:
    """An allocation in this process's address space; its memory stays as long as anybody has it.

    Tensors made of it keep it alive.
    """

    def __init__(self, handle: Any, num_bytes: int, device_index: int) -> None:
        import torch

        self.device_index = device_index
        self._mapping = _Mapping(handle, num_bytes, device_index)
        self._flat = torch.as_tensor(self._mapping, device=torch.device("cuda", device_index))

    @classmethod
    def create(cls, num_bytes: int, device_index: int) -> CudaRegion:
        """New memory; what it holds is not defined.

        Raises:
            OutOfDeviceMemory: there is none left.
            DeviceFault: the device can be used no more.
            WorkerLost: the driver refuses.
        """
        num_bytes = max(num_bytes, 1)
        rounded = _rounded(num_bytes, device_index)
        handle = _done(_driver().cuMemCreate(rounded, _properties(device_index), 0), rounded)
        return cls(handle, num_bytes, device_index)

    @classmethod
    def open(cls, descriptor: int, num_bytes: int, device_index: int) -> CudaRegion:
        """Memory that another process has exported. The descriptor stays open. Raises like `create`."""
        driver = _driver()
        handle = _done(driver.cuMemImportFromShareableHandle(descriptor, _file_descriptor()))
        return cls(handle, num_bytes, device_index)

    @property
    def num_bytes(self) -> int:
        """As they were asked for; what is mapped is a multiple of the device's granularity."""
        return self._mapping.num_bytes

    @property
    def address(self) -> int:
        """Where it begins on the device, in this process."""
        return int(self._mapping.address)

    def flat(self) -> torch.Tensor:
        """All of it as one tensor of `num_bytes` uint8 on the device."""
        return self._flat

    def tensor(self, spec: TensorSpec) -> torch.Tensor:
        """The tensor of a spec as a view.

        Raises:
            ProtocolError: where the spec does not fit the region.
        """
        return tensor_at(self._flat, spec)

    def export(self) -> int:
        """A descriptor for somebody else; the caller owns it."""
        handle = self._mapping.handle
        return int(_done(_driver().cuMemExportToShareableHandle(handle, _file_descriptor(), 0)))


class _Mapping:
    """What gives the memory back when nobody refers to it any more."""

    def __init__(self, handle: Any, num_bytes: int, device_index: int) -> None:
        self.handle = handle
        self.num_bytes = num_bytes
        self._mapped = _rounded(num_bytes, device_index)
        # Kept: when the interpreter ends, nothing can be imported any more.
        self._driver = driver = _driver()
        self.address = _done(driver.cuMemAddressReserve(self._mapped, 0, 0, 0))
        _done(driver.cuMemMap(self.address, self._mapped, 0, handle, 0))
        access = driver.CUmemAccessDesc()
        access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = device_index
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        _done(driver.cuMemSetAccess(self.address, self._mapped, [access], 1))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.num_bytes,),
            "typestr": "|u1",
            "data": (int(self.address), False),
            "version": 3,
        }

    def __del__(self) -> None:
        address = getattr(self, "address", None)
        if address is None:
            return
        driver = self._driver
        driver.cuMemUnmap(address, self._mapped)
        driver.cuMemAddressFree(address, self._mapped)
        driver.cuMemRelease(self.handle)


def is_supported(device_index: int) -> bool:
    """Whether the device can export memory as a descriptor."""
    try:
        driver = _driver()
    except ImportError:  # cuda-bindings is not installed
        return False
    device = _done(driver.cuDeviceGet(device_index))
    wanted = driver.CUdevice_attribute
    return all(
        _done(driver.cuDeviceGetAttribute(attribute, device))
        for attribute in (
            wanted.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
            wanted.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        )
    )


def _driver() -> Any:
    """The driver's functions; imported where they are used, since most machines have none."""
    from cuda.bindings import driver

    return driver


def _done(answer: tuple[Any, ...], num_bytes: int = 0) -> Any:
    """What a call of the driver returned besides its status.

    Args:
        answer: Of it.
        num_bytes: That it was asked for.

    Raises:
        OutOfDeviceMemory: there is none left.
        DeviceFault: the device can be used no more, for what was run on it before, or by itself.
        WorkerLost: the status is another error.
    """
    status, *values = answer
    if int(status) != 0:
        name, text = (
            (tell(status)[1] or b"nothing").decode()
            for tell in (_driver().cuGetErrorName, _driver().cuGetErrorString)
        )
        told = f"The GPU's driver says {name} (error {int(status)}): {text}"
        if int(status) == _OUT_OF_MEMORY:
            asked = f", where {num_bytes:,} bytes were asked for" if num_bytes else ""
            raise OutOfDeviceMemory(f"{told}{asked}. End what else uses the device.")
        if is_fault(text):
            raise DeviceFault(text)
        raise WorkerLost(f"{told}. `cuda-gym doctor` tells whether memory can be shared here.")
    return values[0] if len(values) == 1 else tuple(values)


_OUT_OF_MEMORY = 2
"""In the driver's numbers."""


def _properties(device_index: int) -> Any:
    driver = _driver()
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device_index
    properties.requestedHandleTypes = _file_descriptor()
    return properties


def _file_descriptor() -> Any:
    return _driver().CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def _rounded(num_bytes: int, device_index: int) -> int:
    driver = _driver()
    least = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    unit = int(_done(driver.cuMemGetAllocationGranularity(_properties(device_index), least)))
    return -(-max(num_bytes, 1) // unit) * unit
