"""A sealed block in a candidate: all calls behind one gate, and a digest of what they returned.

What was returned is copied out afterwards: a copy is no part of a call, and whoever left it out would
gain. Only a submission that returns the same memory again has its outputs copied between the calls.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from cuda_gym.judge.sandbox.cuda_sealing import CudaSealing
from cuda_gym.judge.sandbox.kept_outputs import KeptOutputs
from cuda_gym.judge.sandbox.outputs import OutputSink
from cuda_gym.judge.sandbox.regions import Region
from cuda_gym.judge.sandbox.sealed_page import SealedPage

__all__ = ["call_sealed"]

# Bound here: a submission may put its own in its place later.
_clock = time.perf_counter_ns


def call_sealed(
    call: Callable[[Any], Any],
    calls: Sequence[Any],
    sink: OutputSink,
    *,
    sealing: CudaSealing,
    page: SealedPage,
    inputs: Region,
    held: KeptOutputs,
) -> tuple[int, ...]:
    """Call once for each entry; how long each call kept the host, in nanoseconds.

    Args:
        call: What is called.
        calls: The argument of each call.
        sink: Where outputs go.
        sealing: Of the device.
        page: Opens the gate; closed in the end.
        inputs: The region that is sealed.
        held: Knows whether calls return memory that earlier ones have returned.

    Raises:
        Told: a call returned memory that an earlier one has returned; from now on each output is copied.
        WrongOutput: what was returned has not the form that is due.
        DeviceFault: the device failed.
    """
    host_ns: list[int] = []
    kept: list[tuple[int, Any]] = []

    def produce() -> list[torch.Tensor]:
        outputs: list[torch.Tensor] = []
        for number, arguments in enumerate(calls):
            began = _clock()
            value = call(arguments)
            host_ns.append(_clock() - began)
            leaves = sink.leaves(number, value)
            if held.copies or not all(leaf.is_contiguous() for leaf in leaves):
                sink.take(number, value)
                leaves = sink.targets[number]
            else:
                held.require_new(leaves)
                kept.append((number, value))
            outputs += leaves
        return outputs

    sizes = [
        tensor.numel() * tensor.element_size() for targets in sink.targets for tensor in targets
    ]
    gc.disable()
    try:
        with torch.no_grad():
            sealing.run(page, inputs, produce, sizes)
            for number, value in kept:
                sink.take(number, value)
    finally:
        gc.enable()
    return tuple(host_ns)
