"""A reference whose device has failed is not asked again."""

from __future__ import annotations

import contextlib
import threading

import pytest
from tests.judge.sandbox.reference_parts import settings_kept

from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.messages import Fault, Request
from cuda_gym.judge.sandbox.reference_process import serve

pytestmark = pytest.mark.filterwarnings("ignore:Please use the new API settings")


@pytest.mark.parametrize(
    ("raised", "error", "ends"),
    [
        ("CUDA error: device-side assert triggered", "BadTask", True),
        ("CUDA error: out of memory", "OutOfDeviceMemory", False),
        ("the shapes do not fit", "BadTask", False),
    ],
)
def test_after_a_fault_of_the_device_a_reference_ends_and_after_nothing_else(
    raised: str, error: str, ends: bool
) -> None:
    task = {"id": "t", "title": "t", "source": f"raise RuntimeError({raised!r})", "library": []}
    given = {"device": "cpu", "num_threads": 1, "folder": "", "own_kernels": ""}
    ours, theirs = Channel.pair()

    def answer() -> None:
        with theirs, contextlib.suppress(ChannelClosed), settings_kept():
            serve(Channel(theirs))

    reference = threading.Thread(target=answer, daemon=True)
    reference.start()
    ours.send(Request(method="open", arguments={"task": {**task, "allow_tf32": False}, **given}))
    told, _ = ours.receive(Fault)
    assert told.error == error
    reference.join(5.0 if ends else 0.1)
    assert reference.is_alive() != ends
    ours.hang_up()
    reference.join(5.0)
    assert not reference.is_alive()
