"""A reference process: answers the judge, one request after the other, until it hangs up.

Covered: a fault of the device, after which nothing works in a process any more: it tells that, and ends, so that the
next one begins anew.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import warnings
from collections.abc import Callable, Sequence

from cuda_gym.errors import BadTask, CudaGymError, MachineError, NotAdmitted
from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.device_faults import fault_in, lost_device
from cuda_gym.judge.sandbox.exchange import Answer
from cuda_gym.judge.sandbox.messages import (
    Fault,
    Reply,
    Request,
)
from cuda_gym.judge.sandbox.reference import Reference
from cuda_gym.judge.verification.machine_faults import machine_fault

_METHODS = {
    "open",
    "prepare",
    "probe",
    "rest",
    "weights",
    "draw",
    "compare",
    "baseline",
    "work",
    "rates",
    "rehearse",
}
_NO_NEWS = ("Attempting to run cuBLAS", "TensorFloat32 tensor cores")
"""What torch warns of where a gradient is the first to multiply, and where a task does not allow TF32."""
_OF_TIMED_CONTENTS = {"contents", "run", "empty_block", "gate", "witness", "check"}


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up, or the device can be used no more."""
    reference, is_of_use = Reference(), True
    while is_of_use:
        request, _ = channel.receive(Request)
        reply: Reply | Fault
        descriptors: tuple[int, ...] = ()
        try:
            value, descriptors = _method(reference, request.method)(**request.arguments)
            reply = Reply(value=value)
        except Exception as error:  # noqa: BLE001 - a task's own code may raise anything
            faults = _faults(error)
            is_of_use = not faults
            told = _told(error, faults)
            reply = Fault(error=type(told).__name__, message=str(told))
        channel.send(reply, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _told(error: Exception, faults: Sequence[str]) -> CudaGymError:
    """The error that stands for another: a device that is lost is no task's fault, whatever was raised for it."""
    lost = next((lost for fault in faults if (lost := lost_device(fault))), None)
    if lost is not None and not isinstance(error, MachineError):
        return lost
    if isinstance(error, CudaGymError):
        return error
    raised = f"The reference raised {type(error).__name__}: {error}"
    return machine_fault(error) or BadTask(raised)


def _faults(error: BaseException) -> list[str]:
    """The faults of the device that an error was raised for; one that lacks memory is still of use."""
    found: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        if fault := fault_in(cause):
            found.append(fault)
        cause = cause.__cause__ or cause.__context__
    return found


def _method(reference: Reference, name: str) -> Callable[..., Answer]:
    """What the judge asks for: of the task, or of the blocks of a race."""
    if name in _OF_TIMED_CONTENTS:
        of: object = reference.timed
    elif name in _METHODS:
        of = reference
    else:
        raise NotAdmitted(f"A reference has no method {name!r}.")
    method: Callable[..., Answer] = getattr(of, name)
    return method


def main() -> None:
    """Entry point: `python -m cuda_gym.judge.sandbox.reference_process DESCRIPTOR`."""
    limits.hide_memory()
    for beginning in _NO_NEWS:
        warnings.filterwarnings("ignore", message=beginning)
    with contextlib.suppress(ChannelClosed):
        serve(Channel(socket.socket(fileno=int(sys.argv[1]))))
    os._exit(0)  # nothing is left to be torn down in order


if __name__ == "__main__":
    main()
