"""A reference whose device has failed is not asked again."""

from __future__ import annotations

import contextlib
import threading

import pytest
import torch
from tests.judge.sandbox.reference_parts import settings_kept

from cuda_gym.judge.sandbox import device_opening
from cuda_gym.judge.sandbox.channel import Channel, ChannelClosed
from cuda_gym.judge.sandbox.messages import Fault, Request
from cuda_gym.judge.sandbox.reference_process import serve

pytestmark = pytest.mark.filterwarnings("ignore:Please use the new API settings")


@pytest.mark.parametrize(
    ("raised", "error", "ends"),
    [
        ("CUDA error: device-side assert triggered", "BadTask", True),
        ("CUDA error: no CUDA-capable device is detected\nSearch for ...", "DeviceLost", True),
        ("CUDA error: uncorrectable ECC error encountered", "DeviceLost", True),
        ("CUDA error: unknown error", "DeviceLost", True),
        ("CUDA error: invalid device ordinal", "BadTask", False),
        ("CUDA error: out of memory", "OutOfDeviceMemory", False),
        ("the shapes do not fit", "BadTask", False),
    ],
)
def test_after_a_fault_of_the_device_a_reference_ends_and_after_nothing_else(
    raised: str, error: str, ends: bool
) -> None:
    assert told_of_opening(f"raise RuntimeError({raised!r})", ends=ends).error == error


def test_a_lost_device_blames_no_task_whatever_was_made_of_the_error() -> None:
    told = told_of_opening(
        "try:\n"
        "    raise RuntimeError('CUDA error: CUDA-capable device(s) is/are busy or unavailable')\n"
        "except RuntimeError:\n"
        "    raise ValueError('no inputs could be made') from None\n",
        ends=True,
    )
    assert told.error == "DeviceLost"
    for word in ("busy or unavailable", "nvidia-smi", "Xid", "cuda-gym doctor"):
        assert word in told.message


def test_a_device_that_cannot_be_opened_blames_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("No CUDA GPUs are available")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(device_opening, "CudaWorkerDevice", fail)
    told = told_of_opening("", ends=False, device="cuda:0")
    assert told.error == "DeviceLost"
    assert "No CUDA GPUs are available" in told.message


def told_of_opening(source: str, *, ends: bool, device: str = "cpu") -> Fault:
    """What a reference tells of a task that it cannot open; whether it ends then is as expected."""
    task = {"id": "t", "title": "t", "source": source, "library": []}
    given = {"device": device, "num_threads": 1, "folder": "", "own_kernels": ""}
    ours, theirs = Channel.pair()

    def answer() -> None:
        with theirs, contextlib.suppress(ChannelClosed), settings_kept():
            serve(Channel(theirs))

    reference = threading.Thread(target=answer, daemon=True)
    reference.start()
    ours.send(Request(method="open", arguments={"task": {**task, "allow_tf32": False}, **given}))
    told: Fault
    told, _ = ours.receive(Fault)
    reference.join(5.0 if ends else 0.1)
    assert reference.is_alive() != ends
    ours.hang_up()
    reference.join(5.0)
    assert not reference.is_alive()
    return told
