"""A mixture as a server of OpenAI's chat completions on this machine's loopback address.

Covered: only 127.0.0.1 is listened on; so many connections; at the end every connection, every answer in the
making and every thread of the server ends.
Not covered: TLS, other machines, one user's requests kept from another's. For these, put a proxy before it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from functools import partial
from http.server import ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from cuda_gym.agents.route_moa.serving.handler import ChatHandler
from cuda_gym.agents.route_moa.serving.service import Service

__all__ = ["ChatServer"]

_POLL_S = 0.05
_PATIENCE_S = 2.0
"""How long the last words may take, before connections are cut."""


class ChatServer(ThreadingHTTPServer):
    """Listens from its construction on; answers while it serves; `close` ends all of it.

    Args:
        service: What is served.
        port: 0 takes a free one.

    Raises:
        OSError: the port is taken, or may not be.
    """

    daemon_threads = True  # `close` makes them end, and waits for them
    block_on_close = False
    request_queue_size = 64

    def __init__(self, service: Service, *, port: int = 0) -> None:
        self._service = service
        self._connections: set[socket.socket] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", port), partial(ChatHandler, service))

    @property
    def url(self) -> str:
        """What clients take for their `base_url`."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def serve(self) -> None:
        """Answer until `shutdown` is called from another thread, or an exception comes, as Ctrl-C does."""
        self.serve_forever(poll_interval=_POLL_S)

    def close(self) -> None:
        """End connections and answers in the making, and wait for their threads."""
        self._service.is_ending.set()
        self._cut(socket.SHUT_RD)  # who waits for a next request finds none; who answers may finish
        if not self._all_ended(_PATIENCE_S):
            self._cut(socket.SHUT_RDWR)
            self._all_ended(_PATIENCE_S)
        self._service.have_all_ended(_PATIENCE_S)
        self.server_close()

    def server_bind(self) -> None:
        """Without a look at the name service, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a connection to a thread of its own, or close it where there are too many."""
        with self._changed:
            has_room = len(self._connections) < self._service.limits.max_connections
            if has_room:
                self._connections.add(request)
        if has_room:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer on one connection until it is closed."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._connections.discard(request)
                self._changed.notify_all()

    def _cut(self, how: int) -> None:
        with self._changed:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # closed meanwhile
                    connection.shutdown(how)

    def _all_ended(self, patience_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._connections, timeout=patience_s)
