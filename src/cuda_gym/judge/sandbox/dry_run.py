"""A run in which nothing is called: what handing over and copying cost, by the judge's own clock."""

from __future__ import annotations

import torch

from cuda_gym.judge.sandbox.kept_outputs import KeptOutputs
from cuda_gym.judge.sandbox.messages import Ran, Run
from cuda_gym.judge.sandbox.outputs import OutputSink
from cuda_gym.judge.sandbox.worker_device import WorkerDevice

__all__ = ["run_dry"]


def run_dry(
    message: Run,
    sink: OutputSink,
    device: WorkerDevice,
    kept: KeptOutputs,
) -> Ran:
    """All that `run` does, with a call that only fills its outputs: what the protocol costs.

    They are allocated anew and filled, so that what is copied has just been written and is given back after
    each call, or before the next run, as after a real one (to give back 16 MB takes 0.6 ms).
    """

    def fill(number: int) -> list[torch.Tensor]:
        scratch = [device.scratch(target) for target in sink.targets[number]]
        for tensor in scratch:
            device.fill(tensor, number % 2)
        return scratch

    def keep(number: int, value: list[torch.Tensor]) -> None:
        kept.keep(sink, number, value) if message.stays else sink.take(number, value)

    numbers = range(len(sink.targets))
    timed = device.timed_calls(fill, numbers, keep=keep, gate_ns=message.gate_ns)
    return Ran(
        call_ns=timed.call_ns,
        host_ns=timed.host_ns,
        num_ungated=timed.num_ungated,
        launches=0,
        library_calls=0,
        findings="",
        places=kept.places,
    )
