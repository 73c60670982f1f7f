"""A Unix socket that carries messages in frames, with deadlines. Standard library only.

A frame is four bytes of length (big endian), one byte that announces descriptors, and the message;
the descriptors themselves ride along (SCM_RIGHTS).

Covered: a frame that is too long or cut off, a silent other end (a deadline on every wait of the
judge), descriptors that were not announced, a candidate that fills its pipe while we wait for its
answer (a `Drain` keeps the head and the tail of what it prints).
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import socket
import struct
import time
from typing import Any

from cuda_gym.judge.sandbox.messages import (
    Message,
)
from cuda_gym.judge.sandbox.protocol import ProtocolError, decode, encode

MAX_FRAME_BYTES = 16 * 1024 * 1024
MAX_DESCRIPTORS = 4


class ChannelClosed(ProtocolError):
    """The other side is gone."""


class DeadlinePassed(Exception):
    """The other side did not answer in time."""


class Channel:
    """One end of a Unix stream socket that carries messages."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    @classmethod
    def pair(cls) -> tuple[Channel, socket.socket]:
        """Our end, and the raw other end to be handed to a child."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(ours), theirs

    def fileno(self) -> int:
        """The descriptor, for `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close our end; safe to call twice."""
        self._socket.close()

    def hang_up(self) -> None:
        """Close the connection itself, whoever holds descriptors of it; wakes a waiting thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def has_unread(self) -> bool:
        """Whether the other side has said something that nobody has read yet."""
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:
            return False

    def send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Send one message, and duplicates of the descriptors with it.

        Raises:
            ChannelClosed: where nobody listens any more.
        """
        body = encode(message)
        header = struct.pack(">IB", len(body), len(descriptors))
        try:
            if descriptors:
                socket.send_fds(self._socket, [header], list(descriptors))
            else:
                self._socket.sendall(header)
            self._socket.sendall(body)
        except (BrokenPipeError, ConnectionError, OSError) as error:
            raise ChannelClosed(f"The other side is gone: {error}.") from error

    def receive(
        self,
        *expected: type[Any],
        deadline: float | None = None,
        drains: tuple[Drain, ...] = (),
    ) -> tuple[Any, tuple[int, ...]]:
        """One message and its descriptors (owned by the caller from now on).

        Args:
            expected: the types that are in order here.
            deadline: on the clock of `time.monotonic`; None waits for ever.
            drains: pipes that are emptied while waiting, so that nobody blocks on a full one.

        Raises:
            DeadlinePassed: nothing whole arrived in time.
            ChannelClosed: the other side is gone.
            ProtocolError: it said something else.
        """
        header, descriptors = self._read_exactly(5, deadline, drains)
        length, announced = struct.unpack(">IB", header)
        try:
            if announced != len(descriptors):
                raise ProtocolError(f"{announced} descriptors announced, {len(descriptors)} came.")
            if length > MAX_FRAME_BYTES:
                raise ProtocolError(
                    f"A message of {length:,} bytes; at most {MAX_FRAME_BYTES:,} are read."
                )
            body, stray = self._read_exactly(length, deadline, drains)
            descriptors += stray
            if stray:
                raise ProtocolError(f"{len(stray)} descriptors came without being announced.")
            return decode(body, expected), descriptors
        except (ProtocolError, DeadlinePassed):
            for descriptor in descriptors:
                os.close(descriptor)
            raise

    def _read_exactly(
        self, length: int, deadline: float | None, drains: tuple[Drain, ...]
    ) -> tuple[bytes, tuple[int, ...]]:
        data = bytearray()
        descriptors: tuple[int, ...] = ()
        while len(data) < length:
            try:
                self._wait(deadline, drains)
                chunk, fds, _, _ = _recv(self._socket, length - len(data))
            except (OSError, ValueError) as error:
                if isinstance(error, ConnectionError):
                    raise ChannelClosed(f"The other side is gone: {error}.") from error
                if self.fileno() < 0:
                    raise ChannelClosed("This side was closed meanwhile.") from error
                raise
            descriptors += fds
            if not chunk:
                raise ChannelClosed("The other side is gone.")
            data += chunk
        return bytes(data), descriptors

    def _wait(self, deadline: float | None, drains: tuple[Drain, ...]) -> None:
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise DeadlinePassed
            open_drains = [drain for drain in drains if not drain.closed]
            waiting: list[Any] = [self, *open_drains]
            readable, _, _ = select.select(waiting, [], [], left)
            for drain in open_drains:
                if drain in readable:
                    drain.read()
            if self in readable:
                return


class Drain:
    """The reading end of a pipe: keeps the head and the tail of what came, drops the rest."""

    KEPT_BYTES = 4096
    """Of the head, and of the tail."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self.closed = False

    def fileno(self) -> int:
        """The descriptor, for `select`."""
        return self._descriptor

    def read(self) -> None:
        """Take what is there now, at most one mebibyte."""
        try:
            data = os.read(self._descriptor, 1 << 20)
        except BlockingIOError:
            return
        if not data:
            self.close()
        room = self.KEPT_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > self.KEPT_BYTES:
            self._dropped += len(self._tail) - self.KEPT_BYTES
            del self._tail[: -self.KEPT_BYTES]

    def close(self) -> None:
        """Stop reading; safe to call twice."""
        if not self.closed:
            self.closed = True
            os.close(self._descriptor)

    @property
    def text(self) -> str:
        """Head and tail as text, with a count of what was dropped between them."""
        middle = f"\n[... {self._dropped:,} bytes ...]\n".encode() if self._dropped else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")


def _recv(end: socket.socket, length: int) -> tuple[bytes, tuple[int, ...], int, Any]:
    """Like `socket.recv_fds`, but close-on-exec, and whole descriptors only."""
    ints = array.array("i")
    space = socket.CMSG_SPACE(MAX_DESCRIPTORS * ints.itemsize)
    data, ancillary, flags, address = end.recvmsg(length, space, socket.MSG_CMSG_CLOEXEC)
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            ints.frombytes(content[: len(content) - len(content) % ints.itemsize])
    return data, tuple(ints), flags, address
