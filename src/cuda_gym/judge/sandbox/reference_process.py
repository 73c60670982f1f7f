"""A reference process: answers the judge, one request after the other, until it hangs up."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys

from cuda_gym.errors import CudaGymError, NotAdmitted
from cuda_gym.judge.sandbox import limits
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.messages import (
    Fault,
    Reply,
    Request,
)
from cuda_gym.judge.sandbox.reference import Reference
from cuda_gym.judge.verification.allocation import is_out_of_memory

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
    "contents",
    "run",
    "check",
}


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    reference = Reference()
    while True:
        request, _ = channel.receive(Request)
        reply: Reply | Fault
        descriptors: tuple[int, ...] = ()
        try:
            if request.method not in _METHODS:
                raise NotAdmitted(f"A reference has no method {request.method!r}.")
            value, descriptors = getattr(reference, request.method)(**request.arguments)
            reply = Reply(value=value)
        except CudaGymError as error:
            reply = Fault(error=type(error).__name__, message=str(error))
        except Exception as error:  # noqa: BLE001 - a task's own code may raise anything
            told = f"The reference raised {type(error).__name__}: {error}"
            reply = Fault(error=_whose(error), message=told)
        channel.send(reply, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _whose(error: BaseException) -> str:
    """The error of ours that one of Python's stands for, with those that caused it."""
    if is_out_of_memory(error):
        return "OutOfDeviceMemory"
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return "StorageError"
    cause = error.__cause__ or error.__context__
    return "BadTask" if cause is None else _whose(cause)


_NO_ROOM = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE,
)  # fmt: skip
"""A disk that is full, broken or read-only; too many open files. No task can help it."""


def main() -> None:
    """Entry point: `python -m cuda_gym.judge.sandbox.reference_process DESCRIPTOR`."""
    limits.hide_memory()
    with contextlib.suppress(ChannelClosed):
        serve(Channel(socket.socket(fileno=int(sys.argv[1]))))
    os._exit(0)  # nothing is left to be torn down in order


if __name__ == "__main__":
    main()
