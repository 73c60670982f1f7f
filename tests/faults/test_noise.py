"""Malformed messages end whoever sent them, and nobody else."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import time

import pytest
from tests.conftest import SCALE_KERNEL, SCALE_MODEL, submit
from tests.faults.traces import require_as_before, traces

from cuda_gym.core.findings import Outcome
from cuda_gym.core.task import Submission, Task
from cuda_gym.judge.judge import Judge
from cuda_gym.judge.sandbox.channel import Channel, DeadlinePassed
from cuda_gym.judge.sandbox.messages import Failed, Ran
from cuda_gym.judge.sandbox.protocol import ProtocolError, encode

_RIGHT = encode(Ran(call_ns=(1, 2), launches=2, library_calls=0, findings=""))


def _malformed(generator: random.Random, kind: int) -> bytes:
    """A frame with something wrong about it, of one of seven kinds."""
    body = bytearray(_RIGHT)
    if kind == 0:  # other bytes
        body = bytearray(generator.randbytes(generator.randrange(1, 200)))
    elif kind == 1:  # cut off, and announced as what is left
        del body[generator.randrange(1, len(body)) :]
    elif kind == 2:  # of another version or type
        body = bytearray(_RIGHT.replace(b'"v": 1', b'"v": 2').replace(b'"Ran"', b'"Ram"'))
    elif kind == 3:  # with a field of another type
        plain = json.loads(_RIGHT)
        plain[generator.choice(sorted(plain.keys() - {"v", "type"}))] = {"not": [None]}
        body = bytearray(json.dumps(plain).encode())
    elif kind == 4:  # nested without end
        body = bytearray(b"[" * generator.randrange(10_000, 50_000))
    elif kind == 5:  # announced longer than may be read
        return struct.pack(">IB", generator.randrange(1 << 25, 1 << 32), 0) + bytes(body)
    else:  # announces descriptors that do not come
        return struct.pack(">IB", len(body), generator.randrange(1, 256)) + bytes(body)
    return struct.pack(">IB", len(body), 0) + bytes(body)


def test_a_thousand_malformed_messages_raise_nothing_but_what_is_documented() -> None:
    generator = random.Random(6)
    before = traces(folders=False)
    for number in range(1000):
        ours, theirs = Channel.pair()
        with theirs, contextlib.closing(ours):
            theirs.sendall(_malformed(generator, number % 7))
            with pytest.raises((ProtocolError, DeadlinePassed)):
                ours.receive(Ran, Failed, deadline=time.monotonic() + 5.0)
    require_as_before(before, folders=False)


def test_a_message_in_single_bytes_with_stray_descriptors_is_refused_and_closes_them() -> None:
    before = traces(folders=False)
    ours, theirs = Channel.pair()
    with theirs, contextlib.closing(ours):
        for byte in struct.pack(">IB", len(_RIGHT), 0) + _RIGHT:
            socket.send_fds(theirs, [bytes([byte])], [0])
        with pytest.raises(ProtocolError, match="descriptors"):
            ours.receive(Ran, deadline=time.monotonic() + 5.0)
    require_as_before(before, folders=False)


_NOISE = {
    "bytes": "os.write(3, bytes(range(256)) * 64)",
    "a frame that is cut off": "os.write(3, (1000).to_bytes(4, 'big') + b'\\0{')",
    "a frame that is too long": "os.write(3, b'\\xff' * 5)",
    "a message of another kind": (
        'os.write(3, (32).to_bytes(4, "big") + b\'\\0{"v": 1, "type": "Reply", "value": 3}\'.ljust(33))'
    ),
    "nothing more": "os.close(3)",
}


_QUICKLY = ("bytes", "nothing more")


@pytest.mark.parametrize(
    "name", [n if n in _QUICKLY else pytest.param(n, marks=pytest.mark.slow) for n in _NOISE]
)
def test_a_submission_that_speaks_for_the_harness_ends_by_its_own_fault(
    name: str, judge: Judge, scale_task: Task, scale_submission: Submission
) -> None:
    assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
    before = traces(folders=False)
    model = SCALE_MODEL.replace(
        "        return out", f"        import os\n        {_NOISE[name]}\n        return out"
    )
    findings = judge.verify(scale_task, submit(model, SCALE_KERNEL))
    assert findings.outcome in (Outcome.RUNTIME_ERROR, Outcome.TIMEOUT), findings.summary
    assert judge.verify(scale_task, scale_submission).outcome is Outcome.CORRECT
    require_as_before(before, folders=False)
