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
from collections.abc import Callable

from cuda_gym.errors import BadTask, CudaGymError, NotAdmitted
from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.exchange import Answer
from cuda_gym.judge.sandbox.messages import (
    Fault,
    Reply,
    Request,
)
from cuda_gym.judge.sandbox.reference import Reference
from cuda_gym.judge.sandbox.worker_device import DeviceFault, fault_in
from cuda_gym.judge.verification.allocation import is_out_of_memory
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
        except CudaGymError as error:
            is_of_use = not _has_faulted(error)
            reply = Fault(error=type(error).__name__, message=str(error))
        except Exception as error:  # noqa: BLE001 - a task's own code may raise anything
            is_of_use = not _has_faulted(error)
            told = f"The reference raised {type(error).__name__}: {error}"
            fault = machine_fault(error) or BadTask(told)
            reply = Fault(error=type(fault).__name__, message=str(fault))
        channel.send(reply, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _has_faulted(error: BaseException) -> bool:
    """Whether an error was raised for a fault of the device; one that lacks memory is still of use."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DeviceFault) or fault_in(cause):
            return not is_out_of_memory(cause)
        cause = cause.__cause__ or cause.__context__
    return False


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
