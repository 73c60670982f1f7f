"""The server as the openai client sees it, and as a socket does where a client would never do so."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam
from tests.agents.route_moa.serving.scripted_mixture import (
    Scripted,
    answer_of,
    client_of,
    serving,
)

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.serving.server import ChatServer
from cuda_gym.agents.route_moa.serving.service import ServingLimits
from cuda_gym.errors import ContextExceeded, ModelUnavailable

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Capital of France?"}]
BODY = json.dumps({"model": "routemoa", "messages": QUESTION})
JSON = {"Content-Type": "application/json"}


def ask(server: ChatServer, **options: Any) -> Any:
    with client_of(server) as client:
        return client.chat.completions.create(model="routemoa", messages=QUESTION, **options)


def send(
    server: ChatServer,
    *,
    method: str = "POST",
    path: str = "/v1/chat/completions",
    body: str | bytes | None = BODY,
    headers: dict[str, str] = JSON,
) -> tuple[int, dict[str, Any], http.client.HTTPMessage]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as line:
        line.request(method, path, body, headers)
        reply = line.getresponse()
        return reply.status, json.loads(reply.read()), reply.headers


def connected_to(server: ChatServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=5)


def threads_of_a_server() -> list[str]:
    """What is left of connections and of answers in the making."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if "process_request" in name or name == "an answer"]


def soon(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.005)
    return False


def test_an_answer_has_its_text_its_bill_and_its_route() -> None:
    mixture, lines = Scripted(), list[str]()
    with serving(mixture.open, log=lines.append) as server:
        got = ask(server, max_tokens=7, temperature=0.5)
    assert got.choices[0].message.content == "Paris"
    assert got.usage.total_tokens == 38
    assert got.bill["cost_usd"] == 0.5
    assert got.route["exit"] == "unanimity"
    assert got.latency_s > 0
    assert mixture.heard == ["Capital of France?"]
    assert (mixture.asked[0].max_tokens, mixture.asked[0].temperature) == (7, 0.5)
    assert lines[0].endswith("1 layer, 2 calls, $0.500000, exit: unanimity")


@pytest.mark.parametrize("has_usage", [False, True])
def test_a_stream_comes_in_pieces_and_ends_with_the_bill_and_the_route(has_usage: bool) -> None:
    with serving(Scripted().open) as server, client_of(server) as client:
        stream = client.chat.completions.create(
            model="routemoa",
            messages=QUESTION,
            stream=True,
            stream_options={"include_usage": has_usage},
        )
        *pieces, last = list(stream)
    texts = [piece.choices[0].delta.content for piece in pieces]
    assert texts[:2] == ["Pa", "ris"]
    extra = last.model_extra or {}
    assert extra["bill"]["cost_usd"] == 0.5
    assert extra["route"]["exit"] == "unanimity"
    assert (last.usage is not None) == has_usage


def test_a_mixture_that_gives_no_pieces_is_streamed_as_one() -> None:
    class Whole(Scripted):
        def stream(self, query: str) -> Any:
            yield answer_of("Paris")

    with serving(Whole().open) as server, client_of(server) as client:
        stream = client.chat.completions.create(model="routemoa", messages=QUESTION, stream=True)
        assert [piece.choices[0].delta.content for piece in stream] == ["Paris", None]


def test_the_models_are_the_mixture_and_its_roster() -> None:
    with serving(Scripted().open, model_names=("small", "large")) as server:
        with client_of(server) as client:
            assert [model.id for model in client.models.list()] == ["routemoa"]
            assert client.models.retrieve("routemoa").model_extra == {"roster": ["small", "large"]}
        assert send(server, method="GET", path="/healthz", body=None)[:2] == (200, {"status": "ok"})


def test_one_connection_takes_many_requests() -> None:
    with serving(Scripted().open) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        with closing(line):
            for _ in range(3):
                line.request("POST", "/v1/chat/completions", BODY, JSON)
                assert json.loads(line.getresponse().read())["object"] == "chat.completion"


def test_errors_are_those_that_the_openai_client_knows() -> None:
    bill = answer_of("").route.bill
    for error, kind in (
        (ContextExceeded("too long"), openai.BadRequestError),
        (NoAnswer("all failed", bill), openai.InternalServerError),
    ):
        with (
            serving(Scripted(fails=error).open) as server,
            pytest.raises(kind, match=str(error)) as got,
        ):
            ask(server)
    assert got.value.response.json()["bill"]["cost_usd"] == 0.5
    assert got.value.response.headers["x-should-retry"] == "false"
    with (
        serving(Scripted().open) as server,
        client_of(server) as client,
        pytest.raises(openai.NotFoundError, match="There is no model 'gpt'"),
    ):
        client.chat.completions.create(model="gpt", messages=QUESTION)


def test_an_error_before_the_first_piece_has_its_status_and_a_later_one_is_an_event() -> None:
    failed = ModelUnavailable("cut off")
    with (
        serving(Scripted(fails=failed).open) as server,
        pytest.raises(openai.InternalServerError, match="cut off"),
    ):
        ask(server, stream=True)
    with serving(Scripted(fails_late=failed).open) as server, client_of(server) as client:
        stream = client.chat.completions.create(model="routemoa", messages=QUESTION, stream=True)
        assert next(stream).choices[0].delta.content == "Pa"
        with pytest.raises(openai.APIError, match="cut off"):
            next(stream)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_mistake_of_ours_is_a_status_too(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(Scripted(fails=ZeroDivisionError("mistake")).open) as server:
        with pytest.raises(openai.InternalServerError, match="The server failed"):
            ask(server)
        assert send(server, method="GET", path="/healthz", body=None)[0] == 200


@pytest.mark.parametrize(
    ("how", "status", "told"),
    [
        ({"path": "/v1/completions"}, 404, "there are /v1/chat/completions"),
        ({"method": "GET", "body": None}, 405, "takes POST, not GET"),
        ({"method": "DELETE", "path": "/healthz", "body": None}, 405, "takes GET"),
        ({"method": "BREW", "body": None}, 501, "BREW"),
        ({"headers": {"Content-Type": "text/plain"}}, 415, "application/json, not text/plain"),
        ({"headers": {**JSON, "Host": "evil.example:80"}}, 403, "'evil.example:80'"),
        ({"headers": {**JSON, "Content-Length": "many"}}, 411, "send Content-Length"),
        ({"headers": {**JSON, "Content-Length": "-1"}}, 411, "send Content-Length"),
        ({"headers": {**JSON, "Transfer-Encoding": "chunked", "Content-Length": "0"}}, 411, "send"),
        ({"body": b"x" * 2_000_000}, 413, "2,000,000 bytes; the most is 1,000"),
        ({"body": "{"}, 400, "not JSON"),
    ],
)
def test_what_is_not_let_in_is_told_why(how: dict[str, Any], status: int, told: str) -> None:
    mixture, limits = Scripted(), ServingLimits(max_body_bytes=1000, idle_s=1.0)
    with serving(mixture.open, limits=limits) as server:
        got, document, _ = send(server, **how)
    assert got == status
    assert told in document["error"]["message"]
    assert not mixture.asked


def test_what_is_no_http_is_told_so_in_the_same_form() -> None:
    with serving(Scripted().open) as server, connected_to(server) as line:
        line.sendall(b"nonsense with too many words\r\n\r\n")
        told = line.recv(65536)
    assert b'"type": "invalid_request_error"' in told


def test_a_key_is_asked_for_where_there_is_one() -> None:
    with serving(Scripted().open, api_key="right") as server:
        wrong = pytest.raises(openai.AuthenticationError, match="missing or wrong")
        with client_of(server, key="wrong") as client, wrong:
            client.models.list()
        with client_of(server, key="right") as client:
            assert list(client.models.list())
        assert send(server, method="GET", path="/healthz", body=None)[0] == 200
        status, _, headers = send(server, headers={**JSON, "Authorization": "Bearer \xe9"})
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")


def test_one_request_too_many_is_told_to_come_back() -> None:
    held = Scripted(waits=threading.Event())
    with serving(held.open, limits=ServingLimits(max_requests=1)) as server:
        first = threading.Thread(target=ask, args=(server,))
        first.start()
        assert held.begun.wait(5)
        status, document, headers = send(server)
        assert (status, document["error"]["code"]) == (429, "too_many_requests")
        assert headers["Retry-After"] == "1"
        assert held.waits is not None
        held.waits.set()
        first.join()
        assert soon(lambda: send(server)[0] == 200)


def test_one_connection_too_many_is_closed() -> None:
    with serving(Scripted().open, limits=ServingLimits(max_connections=1)) as server:
        with connected_to(server) as first:
            first.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" in first.recv(4096)
            with connected_to(server) as second:
                assert second.recv(1) == b""
        assert soon(lambda: _is_healthy(server))


def test_a_connection_that_says_nothing_is_closed() -> None:
    limits = ServingLimits(idle_s=0.05)
    with serving(Scripted().open, limits=limits) as server, connected_to(server) as line:
        line.sendall(b"POST /v1/chat")
        assert line.recv(1) == b""


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_client_that_goes_away_ends_the_work_for_it(is_stream: bool) -> None:
    held, lines = Scripted(waits=threading.Event()), list[str]()
    body = json.dumps({**json.loads(BODY), "stream": is_stream}).encode()
    with serving(held.open, log=lines.append) as server:
        with connected_to(server) as line:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            head += b"Content-Type: application/json\r\n"
            line.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert held.begun.wait(5)
            assert len(threads_of_a_server()) == 2
        assert held.was_stopped.wait(5)
        assert soon(lambda: not threads_of_a_server())
    assert lines == ["the client went away after $0.500000; nothing more is called for it"]


def test_the_end_of_the_server_ends_answers_in_the_making_and_idle_connections() -> None:
    held = Scripted(waits=threading.Event())
    failed = list[BaseException]()

    def wait_for_it() -> None:
        try:
            ask(server)
        except openai.APIError as error:
            failed.append(error)

    with serving(held.open) as server:
        idle = connected_to(server)
        asking = threading.Thread(target=wait_for_it)
        asking.start()
        assert held.begun.wait(5)
        began = time.monotonic()
    asking.join()
    with closing(idle):
        assert time.monotonic() - began < 2.0
        assert idle.recv(1) == b""
    assert "The server ends" in str(failed[0])
    assert isinstance(failed[0], openai.APIStatusError)
    assert failed[0].response.json()["bill"]["cost_usd"] == 0.5
    assert soon(lambda: not threads_of_a_server())


def test_the_server_is_on_loopback_alone() -> None:
    with serving(Scripted().open) as server:
        assert server.socket.getsockname()[0] == "127.0.0.1"


def _is_healthy(server: ChatServer) -> bool:
    try:
        return send(server, method="GET", path="/healthz", body=None)[0] == 200
    except ConnectionError:
        return False
