"""A server on loopback that speaks OpenAI's chat protocol, well or badly, as its script says.

with serve([rate_limited(retry_after="0.1"), says("Paris")]) as (base_url, requests):
    ...
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

__all__ = [
    "Reply",
    "Request",
    "Script",
    "Served",
    "calls_tool",
    "cut_off",
    "fails",
    "garbage",
    "rate_limited",
    "refuses",
    "says",
    "serve",
]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One that the server saw."""

    method: str
    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: Mapping[str, Any]

    @property
    def is_stream(self) -> bool:
        """Whether the answer is wanted in pieces."""
        return self.body.get("stream") is True

    @property
    def last_message(self) -> str:
        """What was asked last."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the server does with one request."""

    text: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str = "stop"
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    """None sends none."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent instead of everything else."""
    after_s: float = 0.0
    """Silence before the first byte."""
    between_s: float = 0.0
    """Silence before each piece of a stream; of a plain answer, before each of its bytes."""
    pieces: int = 3
    """Into which a stream divides the text."""
    cut_after: int | None = None
    """Pieces of a stream after which the connection is dropped; of a plain answer, bytes."""
    is_chunked: bool = True
    """Of a stream; where it is not, a cut looks like an end."""
    counts_pieces: bool = False
    """Whether each event of a stream has the usage so far: 11 tokens and one for each piece."""


Script = Sequence[Reply] | Callable[[Request], Reply]
"""Replies in turn, of which the last is repeated; or what to reply to a request."""


class Served(NamedTuple):
    """Where the server is, and what it saw."""

    base_url: str
    requests: list[Request]


def says(text: str, **how: Any) -> Reply:
    """A good answer."""
    return Reply(text=text, **how)


def calls_tool(name: str, arguments: str, *, id: str = "call_1", **how: Any) -> Reply:
    """The model wants a tool to be called."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return Reply(tool_calls=(call,), finish_reason="tool_calls", **how)


def refuses(status: int, message: str, *, code: str | None = None, **how: Any) -> Reply:
    """An error in OpenAI's format."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return Reply(status=status, raw=json.dumps({"error": error}).encode(), **how)


def rate_limited(retry_after: str | None = None) -> Reply:
    """Too many requests; perhaps with the time to wait."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return refuses(429, "Rate limit reached.", code="rate_limit_exceeded", headers=headers)


def fails(status: int = 500) -> Reply:
    """The server has a fault."""
    return refuses(status, "The server had an error.", code="server_error")


def garbage() -> Reply:
    """An answer that says it is JSON, and is none."""
    return Reply(raw=b'{"choices": [{"message": {"content": "Par')


def cut_off(text: str, *, after: int, **how: Any) -> Reply:
    """An answer that stops in its middle, with the connection."""
    return Reply(text=text, cut_after=after, **how)


@contextmanager
def serve(script: Script, *, key: str | None = None) -> Iterator[Served]:
    """Serve a script on a free port of loopback; at the end no thread of it is left.

    Args:
        script: What to reply.
        key: The only key that is let in; None lets in everybody.
    """
    server = _Server(script, key)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.002}, name="openai-server"
    )
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_address[1]}/v1", server.requests)
    finally:
        server.shutdown()
        thread.join()
        server.end()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def __init__(self, script: Script, key: str | None) -> None:
        self.over = threading.Event()
        self.requests: list[Request] = []
        self._script = script
        self._key = key
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def end(self) -> None:
        """Also connections that a client keeps open; then no thread of it is left."""
        self.over.set()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            turn = len(self.requests) - 1
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            told = request.headers.get("authorization", "").removeprefix("Bearer ")
            return refuses(401, f"Incorrect API key provided: {told}.", code="invalid_api_key")
        if callable(self._script):
            return self._script(request)
        return self._script[min(turn, len(self._script) - 1)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = Request(
            method="POST",
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(self.rfile.read(length)),
        )
        reply = self.server.reply_to(request)
        if self.path != "/v1/chat/completions":
            reply = refuses(404, f"There is nothing at {self.path}.")
        with suppress(ConnectionError, _Over):  # a client may go away
            self._pause(reply.after_s)
            if request.is_stream and reply.raw is None:
                self._send_stream(reply, request)
            else:
                self._send_whole(reply, request)

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def _pause(self, seconds: float) -> None:
        if seconds and self.server.over.wait(seconds):
            self.close_connection = True
            raise _Over

    def _begin(self, reply: Reply, **headers: str) -> None:
        self.send_response(reply.status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {**named, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_whole(self, reply: Reply, request: Request) -> None:
        body = _whole(reply, request) if reply.raw is None else reply.raw
        self._begin(reply, Content_Type="application/json", Content_Length=str(len(body)))
        kept = body if reply.cut_after is None else body[: reply.cut_after]
        size = 1 if reply.between_s else max(1, len(kept))
        for start in range(0, len(kept), size):
            self._pause(reply.between_s)
            self.wfile.write(kept[start : start + size])
        if reply.cut_after is not None:
            self._drop()

    def _send_stream(self, reply: Reply, request: Request) -> None:
        how = {"Transfer_Encoding": "chunked"} if reply.is_chunked else {"Connection": "close"}
        self._begin(reply, Content_Type="text/event-stream", **how)
        for number, event in enumerate(_events(reply, request)):
            if number == reply.cut_after:
                self._drop()
                return
            self._pause(reply.between_s)
            self._send_part(f"data: {event}\n\n".encode(), is_chunked=reply.is_chunked)
        if reply.is_chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send_part(self, part: bytes, *, is_chunked: bool) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if is_chunked else part)

    def _drop(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class _Over(Exception):
    """The server is being ended."""


def _whole(reply: Reply, request: Request) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = list(reply.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    whole = {**_head(request, "chat.completion"), "choices": [choice]}
    if reply.usage is not None:
        whole["usage"] = dict(reply.usage)
    return json.dumps(whole).encode()


def _events(reply: Reply, request: Request) -> Iterator[str]:
    text = reply.text or ""
    size = max(1, -(-len(text) // max(1, reply.pieces)))
    deltas: list[dict[str, Any]] = [
        {"content": text[start : start + size]} for start in range(0, len(text), size)
    ]
    deltas += [{"tool_calls": [{"index": i, **c}]} for i, c in enumerate(reply.tool_calls)]
    for number, delta in enumerate([*deltas, {}], 1):
        finish = reply.finish_reason if number > len(deltas) else None
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {**_head(request, "chat.completion.chunk"), "choices": [choice]}
        if reply.counts_pieces:
            event["usage"] = {"prompt_tokens": 11, "completion_tokens": min(number, len(deltas))}
        yield json.dumps(event)
    wants_usage = (request.body.get("stream_options") or {}).get("include_usage") is True
    if wants_usage and reply.usage is not None:
        head = _head(request, "chat.completion.chunk")
        yield json.dumps({**head, "choices": [], "usage": dict(reply.usage)})
    yield "[DONE]"


def _head(request: Request, kind: str) -> dict[str, Any]:
    model = request.body.get("model", "")
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": model}
