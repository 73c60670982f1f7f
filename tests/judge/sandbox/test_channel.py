from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from cuda_gym.judge.sandbox.channel import (
    MAX_FRAME_BYTES,
    Channel,
    ChannelClosed,
    DeadlinePassed,
    Drain,
)
from cuda_gym.judge.sandbox.messages import (
    Reply,
    Request,
)
from cuda_gym.judge.sandbox.protocol import ProtocolError


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    ours, theirs = Channel.pair()
    other = Channel(theirs)
    yield ours, other
    ours.close()
    other.close()


def raw(channel: Channel, data: bytes) -> None:
    with socket.socket(fileno=os.dup(channel.fileno())) as end:
        end.sendall(data)


def test_a_message_arrives_with_duplicates_of_its_descriptors(
    ends: tuple[Channel, Channel],
) -> None:
    reading, writing = os.pipe()
    ends[0].send(Reply(value="here"), (writing,))
    message, (copy,) = ends[1].receive(Reply)
    os.write(copy, b"x")
    assert message == Reply(value="here")
    assert os.read(reading, 1) == b"x"
    assert not os.get_inheritable(copy)
    for descriptor in (reading, writing, copy):
        os.close(descriptor)


def test_a_message_larger_than_the_socket_buffer_arrives(ends: tuple[Channel, Channel]) -> None:
    big = Reply(value="x" * 3_000_000)
    sender = threading.Thread(target=ends[0].send, args=(big,))
    sender.start()
    assert ends[1].receive(Reply)[0] == big
    sender.join()


def test_silence_ends_at_the_deadline(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(DeadlinePassed):
        ends[0].receive(Reply, deadline=time.monotonic() + 0.02)


def test_half_a_message_ends_at_the_deadline(ends: tuple[Channel, Channel]) -> None:
    raw(ends[1], struct.pack(">IB", 100, 0) + b"{")
    with pytest.raises(DeadlinePassed):
        ends[0].receive(Reply, deadline=time.monotonic() + 0.02)


def test_a_closed_end_is_told(ends: tuple[Channel, Channel]) -> None:
    ends[1].close()
    with pytest.raises(ChannelClosed):
        ends[0].receive(Reply, deadline=time.monotonic() + 5)
    with pytest.raises(ChannelClosed):
        ends[0].send(Reply(value=None))


def test_an_end_that_was_closed_here_is_told_to_whoever_reads_from_it(
    ends: tuple[Channel, Channel],
) -> None:
    ends[0].hang_up()
    with pytest.raises(ChannelClosed):
        ends[0].receive(Reply, deadline=time.monotonic() + 5)


def test_a_message_that_would_be_too_long_is_not_read(ends: tuple[Channel, Channel]) -> None:
    raw(ends[1], struct.pack(">IB", MAX_FRAME_BYTES + 1, 0))
    with pytest.raises(ProtocolError, match="at most"):
        ends[0].receive(Reply, deadline=time.monotonic() + 5)


def test_descriptors_that_were_not_announced_are_closed_and_refused(
    ends: tuple[Channel, Channel],
) -> None:
    body = b'{"v": 1, "type": "Reply", "value": 1}'
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with socket.socket(fileno=os.dup(ends[1].fileno())) as end:
        socket.send_fds(end, [struct.pack(">IB", len(body), 0)], [0])
        end.sendall(body)
        with pytest.raises(ProtocolError, match="announced"):
            ends[0].receive(Reply, deadline=time.monotonic() + 5)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_the_wrong_kind_of_message_is_refused(ends: tuple[Channel, Channel]) -> None:
    ends[1].send(Request(method="x", arguments=None))
    with pytest.raises(ProtocolError, match="Reply was due; Request came"):
        ends[0].receive(Reply, deadline=time.monotonic() + 5)


def test_a_drain_keeps_head_and_tail_of_a_flood(ends: tuple[Channel, Channel]) -> None:
    reading, writing = os.pipe()
    drain = Drain(reading)

    def flood() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(b"first line\n" + b"x" * 2_000_000 + b"\nlast line\n")
        ends[1].send(Reply(value="done"))

    writer = threading.Thread(target=flood)
    writer.start()
    message, _ = ends[0].receive(Reply, deadline=time.monotonic() + 20, drains=(drain,))
    writer.join()
    while not drain.closed:
        drain.read()
    assert message.value == "done"
    assert drain.text.startswith("first line\n")
    assert drain.text.endswith("last line\n")
    assert "bytes ...]" in drain.text
    assert len(drain.text) < 10_000


def test_what_was_said_unasked_is_noticed_and_stays() -> None:
    ours, raw = Channel.pair()
    theirs = Channel(raw)
    assert not ours.has_unread()
    theirs.send(Reply(value=1))
    assert ours.has_unread()
    assert ours.receive(Reply)[0] == Reply(value=1)
    theirs.close()
    assert not ours.has_unread()
    ours.close()
