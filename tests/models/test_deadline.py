from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from cuda_gym.models.deadline import Deadline


class Connection:
    """As httpcore tells of one."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def get_extra_info(self, name: str) -> Any:
        return self._end if name == "socket" else None


@pytest.mark.parametrize(
    "event", ["connection.connect_tcp.complete", "connection.start_tls.complete"]
)
def test_whoever_waits_for_a_connection_waits_no_longer_than_the_deadline(event: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Deadline(0.1) as deadline:
        deadline.follow(event, {"return_value": Connection(ours)})
        began = time.monotonic()
        assert ours.recv(1) == b""
        assert 0.05 < time.monotonic() - began < 5.0
        assert deadline.left_s == 0.0


def test_a_connection_that_comes_after_the_deadline_is_shut_down_at_once() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Deadline(0.01) as deadline:
        time.sleep(0.05)
        deadline.follow("connection.connect_tcp.complete", {"return_value": Connection(ours)})
        assert ours.recv(1) == b""


def test_a_call_that_ends_before_leaves_its_connection_and_no_thread() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with Deadline(0.2) as deadline:
            deadline.follow("connection.connect_tcp.complete", {"return_value": Connection(ours)})
        assert not any(isinstance(thread, threading.Timer) for thread in threading.enumerate())
        theirs.sendall(b"x")
        assert ours.recv(1) == b"x"
