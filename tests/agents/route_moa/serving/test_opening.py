"""A real mixture behind the real server, its models behind real endpoints."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam
from tests.agents.route_moa.serving.scripted_mixture import client_of, serving
from tests.agents.route_moa.serving.test_server import soon
from tests.models.openai_server import (
    Reply,
    Request,
    Script,
    Served,
    cut_off,
    refuses,
    says,
    serve,
)

from cuda_gym.agents.route_moa.answers import Belief, NoAnswer
from cuda_gym.agents.route_moa.layers import MixturePlan
from cuda_gym.agents.route_moa.posterior import AGREEMENT_ALONE
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.agents.route_moa.serving.opening import EqualScorer, endpoints_of, opener_of
from cuda_gym.agents.route_moa.serving.request import read_request
from cuda_gym.errors import RosterError
from cuda_gym.models.model import Limits, Message, Prices, Usage

QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Capital of France?"}]


def reply(answer: str) -> str:
    return json.dumps({"answer": answer, "self_score": 0.9})


def entry_of(name: str, base_url: str | None, *, usd: float = 1.0, **how: Any) -> RosterEntry:
    return RosterEntry(
        name=name,
        prices=Prices(input_usd_per_million=usd, output_usd_per_million=usd),
        speed=Speed(first_token_s=0.1, tokens_per_s=100.0),
        context_tokens=8000,
        base_url=base_url,
        **how,
    )


@contextmanager
def mixture_of(
    *scripts: Script, plan: MixturePlan | None = None, **how: Any
) -> Iterator[tuple[openai.OpenAI, list[Served]]]:
    """A client of a server of a mixture, and the endpoints of its models, of which the first is the cheapest."""
    with ExitStack() as stack:
        served = [stack.enter_context(serve(script)) for script in scripts]
        roster = Roster(
            tuple(entry_of(f"model-{i}", at.base_url, usd=1.0 + i) for i, at in enumerate(served))
        )
        models = endpoints_of(roster)
        for model in models.values():
            stack.callback(model.close)
        opener = opener_of(
            roster,
            models,
            EqualScorer(roster.names),
            weights=AGREEMENT_ALONE,
            plan=plan or MixturePlan(),
        )
        server = stack.enter_context(serving(opener, **how))
        yield stack.enter_context(client_of(server)), served


def test_what_models_agree_on_is_answered_and_every_call_is_billed() -> None:
    agree = [says(reply("Paris"))]
    with mixture_of(agree, agree, agree) as (client, served):
        got = client.chat.completions.create(
            model="routemoa", messages=QUESTION, max_tokens=50, temperature=0.5
        )
    assert got.choices[0].message.content == "Paris"
    extra: Mapping[str, Any] = got.model_extra or {}
    assert extra["route"]["exit"] == "unanimity"
    calls = [line for line in extra["bill"]["lines"] if line["billed_for"] == "proposer"]
    assert len(calls) == sum(len(at.requests) for at in served) >= 2
    assert got.usage is not None
    assert got.usage.total_tokens == 18 * len(calls)
    expected = sum(18 * (1.0 + int(line["model"][-1])) / 1e6 for line in calls)
    assert extra["bill"]["cost_usd"] == pytest.approx(expected)
    asked = served[0].requests[0].body
    assert (asked["max_tokens"], asked["temperature"]) == (50, 0.5)


def test_what_they_do_not_agree_on_is_aggregated_and_streamed_as_it_is_written() -> None:
    def script(mine: str) -> Any:
        def answer(request: Request) -> Any:
            is_last = request.is_stream
            return says("It is Paris, they say.", pieces=4) if is_last else says(reply(mine))

        return answer

    plan = MixturePlan(max_layers=1)
    with mixture_of(script("Paris"), script("Lyon"), script("Nice"), plan=plan) as (client, _):
        stream = client.chat.completions.create(model="routemoa", messages=QUESTION, stream=True)
        *pieces, last = list(stream)
    texts = [piece.choices[0].delta.content or "" for piece in pieces]
    assert "".join(texts) == "It is Paris, they say."
    assert len(texts) > 2
    extra = last.model_extra or {}
    assert extra["route"]["aggregator"] in {"model-0", "model-1", "model-2"}
    assert extra["bill"]["by_purpose"]["aggregator"]["calls"] == 1


def test_requests_at_the_same_time_have_each_its_own_answer_and_bill() -> None:
    def echo(request: Request) -> Any:
        together.wait()  # each call waits until one of every other request is under way
        return says(f"It is {request.last_message}.")

    number = 4
    together = threading.Barrier(number, timeout=10.0)
    got: dict[int, Any] = {}

    def ask(place: int) -> None:
        question: list[ChatCompletionMessageParam] = [{"role": "user", "content": f"{place}"}]
        got[place] = list(
            client.chat.completions.create(model="routemoa", messages=question, stream=True)
        )

    with mixture_of(echo, plan=MixturePlan(width=1, max_layers=1)) as (client, served):
        asking = [threading.Thread(target=ask, args=(place,)) for place in range(number)]
        for one in asking:
            one.start()
        for one in asking:
            one.join(20)
    for place in range(number):
        texts = [piece.choices[0].delta.content or "" for piece in got[place]]
        assert "".join(texts) == f"It is {place}."
        assert len(got[place][-1].bill["lines"]) == 2
    assert len(served[0].requests) == number


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_client_is_told_whether_its_models_limit_cut_an_answer(
    reason: str, is_stream: bool
) -> None:
    def mine(text: str) -> Any:
        def answer(request: Request) -> Any:
            is_last = "Write the one answer" in str(request.body["messages"])
            return says(text, finish_reason=reason if is_last else "stop")

        return answer

    agree = [says("Paris", finish_reason=reason)]
    for scripts in ((agree, agree), (mine("Paris"), mine("Lyon"))):
        with mixture_of(*scripts, plan=MixturePlan(max_layers=1)) as (client, _):
            got: Any = client.chat.completions.create(
                model="routemoa", messages=QUESTION, stream=is_stream
            )
            last = list(got)[-1] if is_stream else got
        assert last.choices[0].finish_reason == reason


def test_when_all_models_are_down_the_client_is_told_so_with_a_bill() -> None:
    down = [refuses(404, "no such model")]
    with (
        mixture_of(down, down) as (client, _),
        pytest.raises(openai.InternalServerError, match="model-0") as got,
    ):
        client.chat.completions.create(model="routemoa", messages=QUESTION)
    assert got.value.response.json()["bill"]["by_purpose"]["failed"]["calls"] == 2


def test_what_an_endpoint_used_before_it_failed_is_billed() -> None:
    def one(request: Request) -> Any:
        if request.is_stream:
            return cut_off("It is Paris", after=2, counts_pieces=True)
        return says("Paris")

    error = {"error": {"message": "no"}, "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    refusing = [Reply(status=400, raw=json.dumps(error).encode())]
    with ExitStack() as stack:
        served = [stack.enter_context(serve(script)) for script in (refusing, one, [says("Nice")])]
        roster = Roster(
            tuple(entry_of(name, at.base_url) for name, at in zip("abc", served, strict=True))
        )
        models = endpoints_of(roster)
        opener = opener_of(
            roster,
            models,
            EqualScorer(roster.names),
            weights=AGREEMENT_ALONE,
            plan=MixturePlan(max_layers=1),
        )
        body = json.dumps({"model": "routemoa", "messages": QUESTION, "stream": True})
        request = read_request(body.encode())
        with pytest.raises(NoAnswer, match="b broke off after 8 characters") as caught:
            list(opener(request, threading.Event()).stream(request.prompt))
        for model in models.values():
            model.close()
    failed = [line for line in caught.value.bill.lines if line.billed_for == "failed"]
    assert [(line.model, line.usage) for line in failed] == [
        ("a", Usage(prompt_tokens=9, completion_tokens=2)),
        ("b", Usage(prompt_tokens=11, completion_tokens=2)),
    ]
    assert [line.cost_usd for line in failed] == [pytest.approx(11e-6), pytest.approx(13e-6)]


@pytest.mark.parametrize(
    ("is_stream", "reads"), [(False, b""), (True, b""), (True, b'"content": "It"')]
)
def test_of_a_client_that_goes_away_the_log_tells_the_bill_and_no_call_goes_on(
    is_stream: bool, reads: bytes
) -> None:
    def one(request: Request) -> Reply:
        if "stand 2 answers" in str(request.body["messages"][0]):
            aggregates.set()
            return says("It is Paris." * 4, pieces=24, between_s=0.2 if reads else 60.0)
        return says("Paris")

    def calls() -> list[str]:
        names = [thread.name for thread in threading.enumerate()]
        return [name for name in names if name.endswith("model-0")]

    aggregates, lines = threading.Event(), list[str]()
    body = json.dumps({"model": "routemoa", "messages": QUESTION, "stream": is_stream}).encode()
    plan = MixturePlan(max_layers=1)
    with mixture_of(one, [says("Lyon")], plan=plan, log=lines.append) as (client, served):
        with socket.create_connection(("127.0.0.1", client.base_url.port or 0)) as line:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
            head += b"Content-Type: application/json\r\n"
            line.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert aggregates.wait(20)
            heard = b""
            while reads not in heard:
                heard += (piece := line.recv(1 << 16))
                assert piece
            assert calls()
        assert soon(lambda: bool(lines))
        assert soon(lambda: not calls())
        aggregated = served[0].requests[-1].body["messages"]
    told = re.fullmatch(r"the client went away after \$(\S+); nothing more is .*", lines[0])
    assert told
    prompt = sum(len(message["content"]) for message in aggregated) // 4
    proposals = 18 * 1 + 18 * 2
    assert float(told[1]) * 1e6 == pytest.approx(proposals + prompt, abs=2)
    assert [len(at.requests) for at in served] == [2, 1]


def test_a_question_longer_than_every_context_is_the_clients_error_and_calls_nobody() -> None:
    with mixture_of([says(reply("Paris"))]) as (client, served):
        with pytest.raises(openai.BadRequestError) as got:
            client.chat.completions.create(
                model="routemoa", messages=[{"role": "user", "content": "word " * 50_000}]
            )
        assert got.value.code == "context_length_exceeded"
        assert not served[0].requests


def test_models_read_the_conversation_and_the_scorer_its_last_message() -> None:
    scored = list[str]()

    class Listening(EqualScorer):
        def score(self, query: str) -> Mapping[str, Belief]:
            scored.append(query)
            return super().score(query)

    earlier: list[ChatCompletionMessageParam] = [
        {"role": "user", "content": "And of Italy?"},
        {"role": "assistant", "content": "Rome."},
    ]
    body = {"model": "routemoa", "messages": [*earlier, *QUESTION]}
    request = read_request(json.dumps(body).encode())
    with serve([says(reply("Paris"))]) as (base_url, requests):
        roster = Roster((entry_of("one", base_url),))
        models = endpoints_of(roster)
        opener = opener_of(
            roster,
            models,
            Listening(roster.names),
            weights=AGREEMENT_ALONE,
            plan=MixturePlan(limits=Limits(max_tokens=77)),
        )
        answer = opener(request, threading.Event()).answer(request.prompt)
        models["one"].close()
    assert answer.text == "Paris"
    assert scored == ["Capital of France?"]
    assert "Rome." in str(requests[0].body["messages"])
    assert requests[0].body["max_tokens"] == 77


def test_without_a_scorer_the_cheapest_are_asked() -> None:
    agree = [says(reply("Paris"))]
    with mixture_of(agree, agree, agree, agree, plan=MixturePlan(width=1)) as (client, served):
        client.chat.completions.create(model="routemoa", messages=QUESTION)
    assert [bool(at.requests) for at in served][1:] == [False, False, False]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (entry_of("a", None), "'a' has no base_url"),
        (
            entry_of("a", "http://127.0.0.1/v1", api_key_variable="BROKEN_KEY"),
            "api_key of 'a' is empty, or has a character",
        ),
        (
            entry_of("a", "http://127.0.0.1/v1", api_key_variable="NO_SUCH_KEY"),
            "NO_SUCH_KEY, which is not set",
        ),
        (
            entry_of("a", "http://127.0.0.1/v1", api_key_variable="EMPTY_KEY"),
            "EMPTY_KEY, which is empty",
        ),
    ],
)
def test_an_entry_that_cannot_be_called_is_told_at_the_start(
    entry: RosterEntry, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    monkeypatch.setenv("EMPTY_KEY", "")
    monkeypatch.setenv("BROKEN_KEY", "secret\n")
    with pytest.raises(RosterError, match=told):
        endpoints_of(Roster((entry,)))


def test_the_first_request_need_not_wait_for_the_client_library() -> None:
    program = """
import sys
from cuda_gym.agents.route_moa.roster import Roster, RosterEntry, Speed
from cuda_gym.agents.route_moa.serving.opening import endpoints_of
from cuda_gym.models.model import Prices
prices = Prices(input_usd_per_million=1.0, output_usd_per_million=1.0)
speed = Speed(first_token_s=0.1, tokens_per_s=100.0)
url = "http://127.0.0.1:1/v1"
one = RosterEntry(name="a", prices=prices, speed=speed, context_tokens=8000, base_url=url)
assert "openai" not in sys.modules
endpoints_of(Roster((one,)))
assert "openai" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_key_goes_to_the_endpoint_of_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    with serve([says("Paris")], key="secret") as (base_url, _):
        roster = Roster((entry_of("a", base_url, api_key_variable="SOME_KEY"),))
        model = endpoints_of(roster)["a"]
        assert model.complete([Message(role="user", content="?")]).text == "Paris"
        model.close()
