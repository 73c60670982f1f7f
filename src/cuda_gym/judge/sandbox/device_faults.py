"""What is told where a device fails: a kernel was stopped, a call was refused, memory is lacking, or all of it is lost.

Covered: the words of CUDA's runtime and driver, which are the same for each status, as torch, Triton and the
driver's own functions tell them. Not covered: whose kernel it was.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from cuda_gym.errors import DeviceLost, OutOfDeviceMemory
from cuda_gym.judge.toolchains.cuda_driver import DriverCallFailed

__all__ = [
    "REMEDY",
    "DeviceFault",
    "fault_during",
    "fault_in",
    "is_fault",
    "lacks_memory",
    "lost_device",
    "refusal_in",
]


class DeviceFault(RuntimeError):
    """Work that was given to the device has failed there; nothing more can be done in this process."""

    def __init__(self, fault: str, step: str = "") -> None:
        super().__init__(fault)
        self.step = step
        """What was being done: `prepare()`, `constructing ModelNew`; empty where that is not known."""


@contextlib.contextmanager
def fault_during(step: str) -> Iterator[None]:
    """A fault of the device that is raised inside is one of this step.

    Raises:
        DeviceFault: with the step.
    """
    try:
        yield
    except (RuntimeError, DriverCallFailed) as error:
        if (fault := fault_in(error)) is None:
            raise
        raise DeviceFault(fault, step) from error


def fault_in(error: BaseException) -> str | None:
    """What a device says of a fault, without advice on debugging; None for other errors.

    >>> fault_in(RuntimeError("CUDA error: an illegal memory access was encountered"))
    'an illegal memory access was encountered'
    >>> fault_in(RuntimeError("CUDA error: invalid configuration argument")) is None
    True
    >>> fault_in(RuntimeError("shape mismatch")) is None
    True
    """
    if isinstance(error, DeviceFault):
        return str(error)
    if isinstance(error, DriverCallFailed):
        return error.text if is_fault(error.text) else None
    said = _said(error)
    return None if said is None or _is_refusal(said) else said


def refusal_in(error: BaseException) -> str | None:
    """What a device says of a call that it did not carry out; None for other errors.

    >>> refusal_in(RuntimeError("CUDA error: operation not permitted when stream is capturing"))
    'operation not permitted when stream is capturing'
    >>> refusal_in(RuntimeError("CUDA error: misaligned address")) is None
    True
    """
    said = _said(error)
    return said if said is not None and _is_refusal(said) else None


def is_fault(text: str) -> bool:
    """Whether nothing can be done any more in a process that the driver has told this.

    >>> is_fault("misaligned address"), is_fault("invalid argument")
    (True, False)
    """
    return text.startswith((*_STOPPED, *_LOST))


def lacks_memory(error: BaseException) -> bool:
    """Whether memory could not be had, of the device or of the host.

    >>> lacks_memory(DriverCallFailed("cuMemHostRegister_v2", 2, "out of memory"))
    True
    """
    is_drivers = isinstance(error, DriverCallFailed) and error.status == _OUT_OF_MEMORY
    return is_drivers or isinstance(error, OutOfDeviceMemory) or _is_out_of_memory(error)


def lost_device(fault: str) -> DeviceLost | None:
    """The error that stands for a fault that no kernel has caused; None where one may have.

    >>> lost_device("uncorrectable ECC error encountered")  # doctest: +ELLIPSIS
    DeviceLost('The GPU or its driver has failed: uncorrectable ECC error encountered. ...')
    >>> lost_device("an illegal memory access was encountered")
    """
    if not fault.startswith(_LOST):
        return None
    return DeviceLost(f"The GPU or its driver has failed: {fault}. {REMEDY}")


def _said(error: BaseException) -> str | None:
    """A device's own words; None where it does not speak, or of memory."""
    said = _SAID.match(str(error)) if isinstance(error, RuntimeError) else None
    return None if said is None or _is_out_of_memory(error) else said[1].strip()


def _is_refusal(text: str) -> bool:
    return text.startswith(_REFUSALS) and not is_fault(text)


def _is_out_of_memory(error: BaseException) -> bool:
    # Not above: the judge's own process, which has no torch, reads the words of this module.
    from cuda_gym.judge.verification.allocation import is_out_of_memory

    return is_out_of_memory(error)


REMEDY: Final = (
    "`nvidia-smi` tells whether the GPU is still there, lines with Xid in `sudo dmesg` what became of it, and "
    "`cuda-gym doctor` whether it can be used; one that is lost needs a reset or a reboot."
)
_SAID: Final = re.compile(r"\s*(?:CUDA error|CUDA driver error|Triton Error \[CUDA\]): ([^\n]*)")
_OUT_OF_MEMORY: Final = 2
"""In the driver's numbers."""
_STOPPED: Final = (
    "an illegal memory access was encountered",
    "the launch timed out and was terminated",
    "context is destroyed",
    "device-side assert triggered",
    "hardware stack error",
    "an illegal instruction was encountered",
    "misaligned address",
    "operation not supported on global/shared address space",
    "invalid program counter",
    "unspecified launch failure",
    "tensor memory not completely freed",
    "the MPS client has been terminated by the server",
)
"""What a kernel may have done. After it a process can only end."""
_LOST: Final = (
    "no CUDA-capable device is detected",
    "CUDA-capable device(s) is/are busy or unavailable",
    "CUDA driver version is insufficient for CUDA runtime version",
    "initialization error",
    "uncorrectable ECC error encountered",
    "uncorrectable NVLink error detected",
    "Invalid access of peer GPU memory over nvlink or a hardware error",
    "system not yet initialized",
    "system has unsupported display driver / cuda driver combination",
    "forward compatibility was attempted on non supported HW",
    "device doesn't have valid Grid license",
    "MPS client failed to connect",
    "MPS server is not ready",
    "the remote procedural call between the MPS server and the MPS client failed",
    "the hardware resources required to",
    "OS call failed or operation not supported on this OS",
    "unknown error",
)
"""What no kernel can do: the hardware, or the driver as it is installed and running."""
_REFUSALS: Final = (
    "invalid ",  # argument, configuration argument, device function, device ordinal, resource handle
    "no kernel image is available",
    "device kernel image is invalid",
    "the provided PTX ",
    "a PTX JIT compilation failed",
    "named symbol not found",
    "too many ",  # resources requested for launch, blocks in cooperative launch
    "a kernel launch error has occurred due to cluster misconfiguration",
    "API call is not supported in the installed CUDA driver",
    "limit is not supported",
    "peer access ",
    "part or all of the requested memory range is already mapped",
    "pointer does not correspond to a registered memory region",
    "the graph update was not performed",
    "operation ",  # not supported; or not permitted, while a stream is captured
    "capture was not ended",
    "capturing stream has unjoined work",
    "dependency created on uncaptured work",
    "attempt to terminate a thread-local capture",
    "CUBLAS_STATUS_INVALID_VALUE",
    "CUBLAS_STATUS_NOT_SUPPORTED",
)
"""A call that was not carried out; the next one may be. What stands in no list is taken for a fault."""
