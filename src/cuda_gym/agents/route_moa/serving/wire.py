"""JSON and events over one HTTP connection of the standard library.

Covered: HTTP/1.1 with connections that are kept, HTTP/1.0, bodies that are refused unread, a client that went
away. Not covered: bodies in chunks; a client that sends a byte at a time holds its connection as long as it
likes; one that closes only its own half of it counts as gone.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import time
from abc import abstractmethod
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from cuda_gym.agents.route_moa.serving.service import ServingLimits

__all__ = ["JsonWire"]

_LINGER_S = 1.0
"""How long a body that is not read may go on, so that its sender comes to read why."""


class JsonWire(BaseHTTPRequestHandler):
    """Reads requests of one connection, one after another; what they mean is another's to know."""

    protocol_version = "HTTP/1.1"
    server_version = "cuda-gym"
    sys_version = ""

    def __init__(
        self, limits: ServingLimits, connection: socket.socket, address: Any, server: Any
    ) -> None:
        self._idle_s = limits.idle_s
        self.has_begun = False
        self._is_body_read = False
        super().__init__(connection, address, server)

    @abstractmethod
    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Answer a request that is no HTTP."""

    @property
    def body_bytes(self) -> int | None:
        """As the client says; None where it does not, or sends chunks, which have lengths of their own."""
        if "Transfer-Encoding" in self.headers:
            return None
        length = self.headers.get("Content-Length", "")
        return int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None

    def setup(self) -> None:
        """Nobody is waited for for ever."""
        super().setup()
        self.connection.settimeout(self._idle_s)

    def handle(self) -> None:
        """Requests until the client has no more, or is gone between two of them."""
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: answers are logged, not lines of HTTP."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Called by the library for what is no HTTP."""
        del explain
        self.begin()
        self.close_connection = True
        self.refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def begin(self) -> None:
        """A request is read; nothing of the answer is sent."""
        self.has_begun = self._is_body_read = False

    def hang_up(self) -> None:
        """There is nobody to answer."""
        self.has_begun = self.close_connection = True

    def is_reader_gone(self) -> bool:
        """Whether the client has closed the connection."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        return bool(poll.poll(0)) and not self.connection.recv(1, socket.MSG_PEEK)

    def read_body(self, length: int) -> bytes:
        """The body of a request.

        Raises:
            ConnectionAbortedError: it ends before.
        """
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionAbortedError
        self._is_body_read = True
        return body

    def send_document(
        self, status: HTTPStatus, document: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        """The whole answer."""
        self.has_begun = True
        body = _json(document)
        is_unread = not self._is_body_read and self._may_have_a_body()
        self.close_connection = self.close_connection or is_unread
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if is_unread:
            self._read_to_the_end()

    def begin_stream(self) -> None:
        """From here on events; the end of the connection ends them, which HTTP/1.0 reads too."""
        self.has_begun = self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()

    def send_event(self, document: Mapping[str, Any]) -> None:
        """One of a stream."""
        self.wfile.write(b"data: " + _json(document) + b"\n\n")

    def end_stream(self) -> None:
        """By this a reader knows that nothing is missing."""
        self.wfile.write(b"data: [DONE]\n\n")

    def _may_have_a_body(self) -> bool:
        headers = getattr(self, "headers", None)  # a first line that is none comes before them
        return headers is None or any(
            headers.get(name, "0") != "0" for name in ("Content-Length", "Transfer-Encoding")
        )

    def _read_to_the_end(self) -> None:
        """Else the rest of the body would reset the connection before its sender has read why."""
        end = time.monotonic() + _LINGER_S
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LINGER_S)
            while time.monotonic() < end and self.connection.recv(1 << 16):
                pass


def _json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")
