"""An end to a call over the network, whatever the other side does.

A time-out of an HTTP client starts anew with every byte, so a server that sends one now and then holds a call for
ever. Here a timer shuts the call's connections down, which ends any wait for them at once.

Covered: connecting, waiting, and reading, also over TLS. Not covered: the look-up of a host's name, which the system bounds.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

__all__ = ["Deadline"]


class Deadline:
    """Use it around a call, and give `follow` to the call as its `trace`.

    Args:
        timeout_s: From the `with` on.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(min(timeout_s, threading.TIMEOUT_MAX), self._shut_down)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._timer.join()

    @property
    def passed_s(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float:
        """0 where it is over."""
        return max(0.0, self._timeout_s - self.passed_s)

    def follow(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a connection: httpcore calls this with what happens to a request."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            connection = info["return_value"].get_extra_info("socket")
            if isinstance(connection, socket.socket):
                with self._lock:
                    self._sockets.append(connection)
                    if self.left_s == 0.0:
                        _shut_down(connection)

    def _shut_down(self) -> None:
        with self._lock:
            for connection in self._sockets:
                _shut_down(connection)


def _shut_down(connection: socket.socket) -> None:
    """Not through SSLSocket, which would forget its encryption under a thread that reads."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        return  # closed already
