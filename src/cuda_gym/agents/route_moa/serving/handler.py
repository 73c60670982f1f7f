"""One connection to a served mixture: which requests are let in, and what is sent back.

Covered: a Host that is not this machine's, and a body that is not of the type application/json, are refused, so
that no web page can spend money through a browser; a key where one is asked for; the size of a body; a client
that goes away. Not covered: users of one key apart from each other.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, final

from cuda_gym.agents.route_moa.answers import Answer
from cuda_gym.agents.route_moa.bill import Bill
from cuda_gym.agents.route_moa.serving.reply import (
    ChatReply,
    bill_of,
    error_document,
    status_of_error,
)
from cuda_gym.agents.route_moa.serving.request import (
    MIXTURE,
    ChatRequest,
    RequestError,
    read_request,
)
from cuda_gym.agents.route_moa.serving.service import Service
from cuda_gym.agents.route_moa.serving.wire import JsonWire
from cuda_gym.errors import CudaGymError

__all__ = ["ChatHandler"]

_NAMES_OF_THIS_MACHINE = ("127.0.0.1", "localhost")
_POLL_S = 0.05
_PATIENCE_S = 1.0
"""How long to wait for the bill of an answer that was left; calls of endpoints end at once."""


@final
class ChatHandler(JsonWire):
    """Reads requests of one connection, one after another.

    Args:
        service: What all connections share.
        connection: To the client.
        address: Of the client.
        server: That accepted it.
    """

    def __init__(
        self, service: Service, connection: socket.socket, address: Any, server: Any
    ) -> None:
        self._service = service
        super().__init__(service.limits, connection, address, server)

    def answer_one(self) -> None:
        """Answer one request, whatever its method."""
        self.begin()
        try:
            self._check_visitor()
            self._dispatch()
        except CudaGymError as error:
            self._send_error(error)
        except (ConnectionError, TimeoutError):
            self.hang_up()
        finally:
            if not self.has_begun:
                self._send_error(_server_failed())

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer_one

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """What the library finds wrong with a request, in OpenAI's format."""
        self._send_error(RequestError(message, status=status))

    def _check_visitor(self) -> None:
        host = self.headers.get("Host", "")
        if host.partition(":")[0] not in _NAMES_OF_THIS_MACHINE:
            raise RequestError(
                f"This server answers as 127.0.0.1 and localhost alone; the request is for {host!r}.",
                status=HTTPStatus.FORBIDDEN,
                code="wrong_host",
            )
        key = self._service.api_key
        if key is None or self.path == "/healthz":
            return
        shown = self.headers.get("Authorization", "")
        if not hmac.compare_digest(shown.encode(), f"Bearer {key}".encode()):
            raise RequestError(
                "The API key is missing or wrong: send `Authorization: Bearer KEY`.",
                status=HTTPStatus.UNAUTHORIZED,
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _dispatch(self) -> None:
        actions: Mapping[str, tuple[str, Callable[[], None]]] = {
            "/v1/chat/completions": ("POST", self._complete),
            "/v1/models": ("GET", self._list_models),
            f"/v1/models/{MIXTURE}": ("GET", self._tell_model),
            "/healthz": ("GET", self._tell_health),
        }
        path = self.path.partition("?")[0]
        if path not in actions:
            raise RequestError(
                f"There is nothing at {path!r}; there are {', '.join(actions)}.",
                status=HTTPStatus.NOT_FOUND,
                code="not_found",
            )
        method, action = actions[path]
        if self.command != method:
            raise RequestError(
                f"{path} takes {method}, not {self.command}.",
                status=HTTPStatus.METHOD_NOT_ALLOWED,
                code="method_not_allowed",
                headers={"Allow": method},
            )
        action()

    def _tell_health(self) -> None:
        self.send_document(HTTPStatus.OK, {"status": "ok"})

    def _list_models(self) -> None:
        self.send_document(HTTPStatus.OK, {"object": "list", "data": [self._model_document()]})

    def _tell_model(self) -> None:
        self.send_document(HTTPStatus.OK, self._model_document())

    def _model_document(self) -> dict[str, Any]:
        return {
            "id": MIXTURE,
            "object": "model",
            "created": self._service.started,
            "owned_by": "cuda-gym",
            "roster": list(self._service.model_names),
        }

    def _complete(self) -> None:
        began = time.monotonic()
        request = read_request(self._read_body())
        work = self._service.begin(request)
        reply = ChatReply(id=f"chatcmpl-{uuid.uuid4().hex}", created=int(time.time()))
        send = self._send_piece if request.is_stream else self._send_whole
        try:
            for item in work.items(every_s=_POLL_S, meanwhile=self._check_reader):
                latency_s = time.monotonic() - began
                if isinstance(item, Answer):
                    self._service.log(_log_line(item, latency_s))
                send(item, request, reply, latency_s)
                if isinstance(item, Answer):
                    return
            raise _server_failed()
        except CudaGymError as error:
            bill = bill_of(error) or work.left(_PATIENCE_S)
            if isinstance(error, RequestError):
                error.bill = bill
            self._service.log(f"no answer{_spent(bill)}: {error}")
            raise
        except (ConnectionError, TimeoutError):
            bill = work.left(_PATIENCE_S)
            self._service.log(f"the client went away{_spent(bill)}; nothing more is called for it")
            raise
        finally:
            work.stop()

    def _check_reader(self) -> None:
        """Whether there is still somebody to answer, and a server to do so."""
        is_gone = self.is_reader_gone()  # first, since the end of the server looks the same
        if self._service.is_ending.is_set():
            raise RequestError(
                "The server ends.", status=HTTPStatus.SERVICE_UNAVAILABLE, code="server_ends"
            )
        if is_gone:
            raise ConnectionAbortedError

    def _read_body(self) -> bytes:
        media_type = self.headers.get_content_type()
        if media_type != "application/json":
            raise RequestError(
                f"The body is of the type application/json, not {media_type}.",
                status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                code="unsupported_media_type",
            )
        length, most = self.body_bytes, self._service.limits.max_body_bytes
        if length is None:
            raise RequestError(
                "The length of the body is missing: send Content-Length.",
                status=HTTPStatus.LENGTH_REQUIRED,
                code="length_required",
            )
        if length > most:
            raise RequestError(
                f"The body has {length:,} bytes; the most is {most:,}.",
                status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                code="body_too_large",
            )
        return self.read_body(length)

    def _send_whole(
        self, item: str | Answer, request: ChatRequest, reply: ChatReply, latency_s: float
    ) -> None:
        del request
        if isinstance(item, Answer):
            self.send_document(HTTPStatus.OK, reply.whole(item, latency_s=latency_s))

    def _send_piece(
        self, item: str | Answer, request: ChatRequest, reply: ChatReply, latency_s: float
    ) -> None:
        is_first = not self.has_begun
        if is_first:
            self.begin_stream()
        if isinstance(item, str):
            self.send_event(reply.piece(item, is_first=is_first))
            return
        if is_first:
            self.send_event(reply.piece(item.text, is_first=True))
        for document in reply.last(item, latency_s=latency_s, has_usage=request.has_usage):
            self.send_event(document)
        self.end_stream()

    def _send_error(self, error: CudaGymError) -> None:
        document = error_document(error)
        with contextlib.suppress(ConnectionError, TimeoutError):
            if self.has_begun:
                self.send_event(document)
                return
            headers = dict(error.headers) if isinstance(error, RequestError) else {}
            if "bill" in document:
                headers["x-should-retry"] = "false"  # calls were repeated already, and are paid for
            self.send_document(status_of_error(error), document, headers)


def _server_failed() -> RequestError:
    return RequestError(
        "The server failed; its own output says where.",
        status=HTTPStatus.INTERNAL_SERVER_ERROR,
        code="server_failed",
    )


def _spent(bill: Bill | None) -> str:
    return "" if bill is None else f" after ${bill.cost_usd:.6f}"


def _log_line(answer: Answer, latency_s: float) -> str:
    bill = answer.route.bill
    layers, calls = len(answer.route.layers), bill.total.calls
    return (
        f"answered in {latency_s:.1f} s: {layers} {'layer' if layers == 1 else 'layers'}, "
        f"{calls} {'call' if calls == 1 else 'calls'}, ${bill.cost_usd:.6f}, exit: {answer.route.exit}"
    )
