"""An end to a call over the network, whatever the other side does.

A time-out of an HTTP client starts anew with every byte, so a server that sends one now and then holds a call for
ever. Here a timer shuts the call's connections down, which ends any wait for them at once; and so does an
`Ending`, for whoever waits for the call no longer.

Covered: connecting, waiting, and reading, also over TLS. Not covered: the look-up of a host's name, which the system bounds; an
`Ending` while a connection is being made, which ends when it is there or was waited for long enough.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self

__all__ = ["Deadline", "Ending"]


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
        self._was_ended = threading.Event()
        self._was_sent = False
        self._timer = threading.Timer(min(timeout_s, threading.TIMEOUT_MAX), self._shut_down)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._timer.start()
        if (ending := _ENDING.get()) is not None:
            ending.add(self)
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

    @property
    def was_sent(self) -> bool:
        """Whether the request of the last connection went out whole: from then on the other side may be at work."""
        return self._was_sent

    def end(self) -> None:
        """At once, from any thread."""
        self._timeout_s = 0.0
        self._was_ended.set()
        self._shut_down()

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond its `end`."""
        self._was_ended.wait(seconds)

    def follow(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a connection: httpcore calls this with what happens to a request."""
        if event.endswith((".connect_tcp.started", ".send_request_body.complete")):
            self._was_sent = event.endswith(".complete")
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


class Ending:
    """Ends calls before their deadlines: those that one thread makes within its `with`.

    One that is made within another's `with`, for calls in further threads, ends with that one.
    """

    def __init__(self) -> None:
        self._ended_with_it: list[Deadline | Ending] = []
        self._lock = threading.Lock()
        self._is_over = False
        self._before: Token[Ending | None] | None = None
        if (outer := _ENDING.get()) is not None:
            outer.add(self)

    def __enter__(self) -> Self:
        self._before = _ENDING.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            _ENDING.reset(self._before)

    @property
    def is_over(self) -> bool:
        """Whether `end` was called."""
        return self._is_over

    def add(self, one: Deadline | Ending) -> None:
        """One more to end; at once, where it comes too late."""
        with self._lock:
            self._ended_with_it.append(one)
            if self._is_over:
                one.end()

    def end(self) -> None:
        """All of them, and those to come; from any thread."""
        with self._lock:
            self._is_over = True
            for one in self._ended_with_it:
                one.end()


_ENDING: ContextVar[Ending | None] = ContextVar("ending", default=None)


def _shut_down(connection: socket.socket) -> None:
    """Not through SSLSocket, which would forget its encryption under a thread that reads."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        return  # closed already
