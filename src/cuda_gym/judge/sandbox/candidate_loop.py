"""A candidate's process: it gets the device ready, then answers the judge, one message after the other.

Covered: what a submission raises becomes an answer, and never ends the loop. Not covered: what it does with the
process; from its import on it shares the interpreter with this.
"""

from __future__ import annotations

import os
import sys

from cuda_gym.errors import CudaGymError
from cuda_gym.judge.sandbox.candidate import Candidate
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.device_opening import open_worker_device
from cuda_gym.judge.sandbox.failed_steps import answer_to
from cuda_gym.judge.sandbox.messages import (
    Failed,
    Forbid,
    Forbidden,
    Load,
    Loaded,
    Open,
    Opened,
    Ran,
    Reload,
    Rest,
    Rested,
    Run,
)
from cuda_gym.judge.sandbox.telling import Told
from cuda_gym.judge.sandbox.torch_operators import rehearse_refusal
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["serve"]


def serve(channel: Channel, *, isolation: str, own_inputs: bool = False) -> None:
    """Answer the judge until it hangs up.

    Args:
        channel: The judge's.
        isolation: What stands between this process and the machine.
        own_inputs: Whether each input is copied to an allocation of its own, for a tool that watches.
    """
    order, _ = channel.receive(Open)
    try:
        device = open_worker_device(order.device, own_kernels=order.own_kernels)
    except CudaGymError as error:
        channel.send(Opened(trouble=str(error)))
        return
    kind = device.torch_device.type
    if kind == "cpu":  # the judge holds the cores until the device is open
        rehearse_refusal(kind)
    channel.send(Opened(trouble="", isolation=isolation))
    if kind != "cpu" and not channel.has_unread():
        rehearse_refusal(kind)
    candidate = Candidate(device, own_inputs=own_inputs)
    while True:
        try:
            message, descriptors = channel.receive(Load, Forbid, Reload, Run, Rest)
        except ChannelClosed:
            return
        try:
            reply = _answer(candidate, device, message, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        sys.stdout.flush()
        channel.send(reply)


def _answer(
    candidate: Candidate,
    device: WorkerDevice,
    message: Load | Forbid | Reload | Run | Rest,
    descriptors: tuple[int, ...],
) -> Loaded | Forbidden | Ran | Rested | Failed:
    """What the candidate says, or what went wrong."""
    try:
        if isinstance(message, Load):
            return candidate.load(message)
        if isinstance(message, Forbid):
            return candidate.forbid()
        if isinstance(message, Reload):
            return candidate.reload(message, descriptors[0])
        if isinstance(message, Rest):
            return candidate.rest()
        return candidate.run(message, *descriptors)
    except (Told, CudaGymError, RuntimeError, MemoryError, OSError) as error:
        failed = answer_to(error, device, candidate.describe_fault)
        if failed is None:
            raise
        return failed
