"""What a candidate answers where a step has failed.

A device that has stopped a kernel says so at whatever is asked of it next, by the submission or by us, and in any
words: those of a launcher's status, of an exception of C++. So where a submission has raised something, the device
itself is asked whether it still works.

Covered: faults of the device, with the step; memory that is lacking, with how much is left. Not covered: whether it is
true. A submission shares the process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from cuda_gym.errors import CudaGymError, WrongOutput
from cuda_gym.judge.sandbox.device_faults import (
    DeviceFault,
    fault_in,
    lacks_memory,
    refusal_in,
)
from cuda_gym.judge.sandbox.messages import Failed
from cuda_gym.judge.sandbox.telling import Told
from cuda_gym.judge.sandbox.worker_device import WorkerDevice
from cuda_gym.judge.verification.allocation import free_bytes

__all__ = ["answer_to"]


def answer_to(
    error: Exception, device: WorkerDevice, describe_fault: Callable[[str], str]
) -> Failed | None:
    """What the judge is answered; None where the error is one of our own, which ends the process.

    Args:
        error: Raised in a step.
        device: Asked whether it still works, and what memory it has.
        describe_fault: Knows what was launched last.
    """
    if isinstance(error, WrongOutput):
        return Failed(kind="wrong", message=str(error))
    fault = fault_in(error)
    if fault is None and isinstance(error, Told) and error.kind in ("raised", "memory"):
        fault = _fault_of(device)
    if fault is not None:
        step = error.step if isinstance(error, (DeviceFault, Told)) else ""
        return Failed(kind="fault", message=f"{describe_fault(fault)}{_during(step)}")
    if isinstance(error, Told):
        return Failed(kind=error.kind, message=str(error))
    if lacks_memory(error):
        return Failed(kind="memory", message=_lack(error, device))
    if refused := refusal_in(error):
        return Failed(
            kind="raised",
            message=f"The GPU does not do what the judge asks of it any more: {refused}. "
            "Leave it as a call has found it: end every capture of a stream that is begun.",
        )
    return Failed(kind="raised", message=str(error)) if isinstance(error, CudaGymError) else None


def _fault_of(device: WorkerDevice) -> str | None:
    try:
        device.synchronise()
    except RuntimeError as error:
        return fault_in(error)
    return None


def _during(step: str) -> str:
    """`prepare()` is a name, `constructing ModelNew` is something that is done."""
    return f", {'while' if ' ' in step else 'in'} {step}" if step else ""


def _lack(error: Exception, device: WorkerDevice) -> str:
    said = str(error).strip().partition("\n")[0].partition(" If reserved")[0]
    left = ""
    with contextlib.suppress(RuntimeError):
        free, total = free_bytes(device.torch_device), device.total_bytes()
        if free is not None and total is not None:
            left = f" {free:,} of the device's {total:,} bytes are free."
    return (
        "There was no memory left for the judge to go on in the submission's process: "
        f"{said.rstrip('.') or type(error).__name__}.{left} "
        "Allocate what a call needs, and let go of it when the call is over."
    )
