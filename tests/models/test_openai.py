from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from tests.models.openai_server import (
    Reply,
    Request,
    Script,
    calls_tool,
    cut_off,
    fails,
    garbage,
    rate_limited,
    refuses,
    says,
    serve,
)

from cuda_gym.errors import (
    BudgetExceeded,
    ContextExceeded,
    MissingTool,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from cuda_gym.models.deadline import Ending
from cuda_gym.models.model import Completion, Limits, Message, Prices, ToolCall, Usage
from cuda_gym.models.openai import OpenAIModel
from cuda_gym.models.retries import Retries

QUESTION = [Message(role="user", content="Which city is it?")]
PRICES = Prices(input_usd_per_million=1.0, output_usd_per_million=2.0)
QUICK = Retries(num_attempts=3, first_wait_s=0.01)
KEY = "sk-a-secret-of-mine"
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module", autouse=True)
def _openai_is_loaded() -> None:
    """Before any test takes a time."""
    import openai  # noqa: F401


@contextmanager
def asked(
    script: Script,
    *,
    api_key: str | None = KEY,
    key: str | None = KEY,
    attempt_timeout_s: float | None = None,
) -> Iterator[tuple[OpenAIModel, list[Request]]]:
    with serve(script, key=key) as (base_url, requests):
        model = OpenAIModel(
            "mine",
            base_url,
            "theirs",
            PRICES,
            api_key,
            retries=QUICK,
            attempt_timeout_s=attempt_timeout_s,
        )
        yield model, requests


def error_of(script: Script, kind: type[ModelError], *, timeout_s: float = 5.0) -> str:
    with asked(script) as (model, _), pytest.raises(kind) as caught:
        model.complete(QUESTION, limits=Limits(timeout_s=timeout_s))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def test_a_completion_has_the_text_the_servers_tokens_and_their_cost() -> None:
    with asked([says("Paris")]) as (model, requests):
        completion = model.complete(QUESTION, limits=Limits(max_tokens=50, temperature=0.0))
    assert completion == Completion(
        model="mine",
        text="Paris",
        usage=Usage(prompt_tokens=11, completion_tokens=7),
        latency_s=completion.latency_s,
        cost_usd=(11 * 1.0 + 7 * 2.0) / 1e6,
    )
    assert 0 < completion.latency_s < 5
    assert requests[0].body == {
        "model": "theirs",
        "messages": [{"role": "user", "content": "Which city is it?"}],
        "max_tokens": 50,
        "temperature": 0.0,
    }


def test_a_stream_gives_pieces_then_what_complete_would_have_given() -> None:
    with asked([says("Paris it is", pieces=4)]) as (model, requests):
        *pieces, completion = model.stream(QUESTION)
    assert len(pieces) == 4
    assert isinstance(completion, Completion)
    assert completion.text == "Paris it is" == "".join(map(str, pieces))
    assert completion.usage == Usage(prompt_tokens=11, completion_tokens=7)
    assert completion.estimated == ()
    assert requests[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": -1, "completion_tokens": "many"}])
def test_tokens_that_the_server_does_not_tell_are_estimated_and_said_to_be(
    usage: dict[str, object] | None,
) -> None:
    with asked([says("Paris it is", usage=usage)]) as (model, _):
        whole = model.complete(QUESTION)
        *_, streamed = model.stream(QUESTION)
    for completion in (whole, streamed):
        assert isinstance(completion, Completion)
        assert completion.usage == Usage(prompt_tokens=5, completion_tokens=3)
        assert completion.estimated == ("usage",)
        assert completion.cost_usd == PRICES.cost_usd(completion.usage)


def test_tools_go_out_and_calls_come_back_and_go_out_again() -> None:
    with asked([calls_tool("look_up", '{"x": 1}'), says("Paris")]) as (model, requests):
        first = model.complete(QUESTION, tools=[TOOL])
        assert first.tool_calls == (ToolCall(id="call_1", name="look_up", arguments='{"x": 1}'),)
        assert first.finish_reason == "tool_calls"
        assert first.text == ""
        turn = Message(role="assistant", content="", tool_calls=first.tool_calls)
        model.complete(
            [*QUESTION, turn, Message(role="tool", content="Paris", tool_call_id="call_1")],
            tools=[TOOL],
        )
    assert requests[0].body["tools"] == [TOOL]
    _, said, result = requests[1].body["messages"]
    assert said["content"] is None
    assert said["tool_calls"][0]["function"] == {"name": "look_up", "arguments": '{"x": 1}'}
    assert result == {"role": "tool", "content": "Paris", "tool_call_id": "call_1"}


@pytest.mark.parametrize(
    "bad",
    [
        fails(500),
        fails(503),
        rate_limited(),
        garbage(),
        cut_off("Paris", after=20),
        Reply(raw=b"[]"),
        Reply(raw=b'{"choices": []}'),
        Reply(raw=b'{"choices": [{"message": null}]}'),
        Reply(raw=b"[" * 100_000),
        Reply(raw=b'{"error": {"message": "upstream is down", "code": 502}}'),
    ],
    ids=lambda reply: str(reply.raw)[:40],
)
def test_what_fails_in_passing_is_tried_again(bad: Reply) -> None:
    with asked([bad, says("Paris")]) as (model, requests):
        assert model.complete(QUESTION).text == "Paris"
    assert len(requests) == 2


def test_it_waits_as_long_as_the_server_asks() -> None:
    with asked([rate_limited(retry_after="0.2"), says("Paris")]) as (model, _):
        began = time.monotonic()
        completion = model.complete(QUESTION)
        assert time.monotonic() - began >= 0.2
    assert completion.latency_s >= 0.2


def test_it_does_not_wait_for_what_the_limits_leave_no_time_for() -> None:
    began = time.monotonic()
    message = error_of([rate_limited(retry_after="60")], ModelUnavailable)
    assert time.monotonic() - began < 3
    assert "asks for 60 s" in message


def test_a_wait_for_the_next_attempt_ends_with_whoever_waits_for_the_call() -> None:
    began = time.monotonic()
    with asked([rate_limited(retry_after="30")]) as (model, requests), Ending() as ending:
        soon = threading.Timer(0.1, ending.end)
        soon.start()
        with pytest.raises(ModelUnavailable):
            model.complete(QUESTION)
        soon.join()
    assert time.monotonic() - began < 5
    assert len(requests) == 1


def test_attempts_come_to_an_end() -> None:
    with asked([fails(500)]) as (model, requests), pytest.raises(ModelUnavailable, match="3 att"):
        model.complete(QUESTION)
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("reply", "kind", "part"),
    [
        (refuses(401, "no"), ModelRefused, "api_key"),
        (refuses(404, "no such model"), ModelRefused, "served_as='theirs'"),
        (refuses(400, "bad"), ModelRefused, "bad"),
        (refuses(400, "long", code="context_length_exceeded"), ContextExceeded, "shorter"),
        (refuses(400, "the maximum context length is 8"), ContextExceeded, "shorter"),
        (refuses(429, "pay", code="insufficient_quota"), BudgetExceeded, "money"),
        (refuses(307, "", headers={"Location": "http://127.0.0.1:1/v1"}), ModelRefused, "base_url"),
    ],
)
def test_what_is_refused_is_not_tried_again(
    reply: Reply, kind: type[ModelError], part: str
) -> None:
    with asked([reply]) as (model, requests), pytest.raises(kind, match=part):
        model.complete(QUESTION)
    assert len(requests) == 1


def test_nobody_there_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = OpenAIModel("mine", f"http://127.0.0.1:{port}/v1", None, PRICES, retries=QUICK)
    with pytest.raises(ModelUnavailable, match="connection failed"):
        model.complete(QUESTION)


@pytest.mark.parametrize(
    "slow",
    [says("Paris", after_s=30.0), says("Paris", between_s=0.05)],
    ids=["silent", "a byte now and then"],
)
def test_a_call_ends_with_its_time_whatever_the_server_does(slow: Reply) -> None:
    began = time.monotonic()
    message = error_of([slow], ModelUnavailable, timeout_s=0.2)
    assert time.monotonic() - began < 1.5
    assert "0.2" in message


def test_a_stream_ends_with_its_time_too() -> None:
    slow = says("Paris " * 100, pieces=100, between_s=0.05)
    arrived: list[str | Completion] = []
    began = time.monotonic()
    with asked([slow]) as (model, _), pytest.raises(ModelUnavailable, match="characters of it"):
        arrived.extend(model.stream(QUESTION, limits=Limits(timeout_s=0.3)))
    assert time.monotonic() - began < 1.5
    assert 1 <= len(arrived) < 20


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_call_whose_time_ends_while_the_server_is_at_work_has_used_its_prompt(
    is_stream: bool,
) -> None:
    limits = Limits(timeout_s=0.4)
    with asked([says("late", after_s=30.0)]) as (model, _):
        ask = model.stream if is_stream else model.complete
        with pytest.raises(ModelUnavailable) as caught:
            list(ask(QUESTION, limits=limits))  # type: ignore[arg-type]
    assert caught.value.usage == Usage(prompt_tokens=5, completion_tokens=0)
    assert caught.value.may_have_used_more


def test_a_call_whose_time_ends_before_the_server_has_it_has_used_nothing() -> None:
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # from then on nobody gets through
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(deaf.getsockname())
        base_url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        model = OpenAIModel("mine", base_url, "theirs", PRICES, retries=QUICK)
        with pytest.raises(ModelUnavailable, match="no whole answer within") as caught:
            model.complete(QUESTION, limits=Limits(timeout_s=0.2))
    assert caught.value.usage is None
    assert not caught.value.may_have_used_more


def test_an_attempt_can_have_a_time_of_its_own() -> None:
    script = [says("late", after_s=30.0), says("Paris")]
    with asked(script, attempt_timeout_s=0.15) as (model, requests):
        assert model.complete(QUESTION).text == "Paris"
    assert len(requests) == 2


@pytest.mark.parametrize("is_chunked", [True, False])
def test_a_stream_that_is_cut_off_is_no_answer(is_chunked: bool) -> None:
    arrived: list[str | Completion] = []
    with asked([cut_off("Paris it is", after=2, is_chunked=is_chunked)]) as (model, requests):
        pieces = model.stream(QUESTION)
        with pytest.raises(ModelUnavailable, match="after 8 characters of it"):
            arrived.extend(pieces)
    assert arrived == ["Pari", "s it"]
    assert len(requests) == 1


TOLD = {"prompt_tokens": 11, "completion_tokens": 3}
USED = Usage(prompt_tokens=11, completion_tokens=3)


def told(status: int, **body: object) -> Reply:
    """An answer that is none, with a usage."""
    return Reply(raw=json.dumps({**body, "usage": TOLD}).encode(), status=status)


FAILS_AND_TELLS = pytest.mark.parametrize(
    "bad",
    [
        told(200),
        told(200, choices=[]),
        told(200, error={"message": "the worker died"}),
        told(500, error={"message": "the worker died"}),
        Reply(
            raw=json.dumps({"error": {"message": "the worker died", "usage": TOLD}}).encode(),
            status=503,
        ),
    ],
    ids=["no choices", "empty choices", "an error as an answer", "beside an error", "in an error"],
)


@FAILS_AND_TELLS
def test_what_failed_attempts_used_is_in_the_error(bad: Reply) -> None:
    with asked([bad]) as (model, _), pytest.raises(ModelUnavailable) as caught:
        model.complete(QUESTION)
    assert caught.value.usage == USED + USED + USED


@FAILS_AND_TELLS
def test_what_failed_attempts_used_is_paid_for_where_a_later_one_answers(bad: Reply) -> None:
    with asked([bad, says("Paris")]) as (model, _):
        completion = model.complete(QUESTION)
    assert completion.usage == USED + Usage(prompt_tokens=11, completion_tokens=7)
    assert completion.cost_usd == PRICES.cost_usd(completion.usage)


def test_a_refusal_that_tells_a_usage_is_no_answer_for_nothing() -> None:
    with asked([told(400, error={"message": "no"})]) as (model, _):
        for ask in (model.complete, lambda messages: list(model.stream(messages))):
            with pytest.raises(ModelRefused) as caught:
                ask(QUESTION)
            assert caught.value.usage == USED


def test_an_error_that_tells_no_usage_knows_of_none() -> None:
    with asked([fails(500)]) as (model, _), pytest.raises(ModelUnavailable) as caught:
        model.complete(QUESTION)
    assert caught.value.usage is None


@pytest.mark.parametrize("is_chunked", [True, False])
def test_a_stream_that_is_cut_off_tells_what_it_used_until_then(is_chunked: bool) -> None:
    cut = cut_off("Paris it is", after=2, counts_pieces=True, is_chunked=is_chunked)
    untold = cut_off("Paris it is", after=2, is_chunked=is_chunked)
    with asked([cut, untold, told(500), untold]) as (model, _):
        usages = []
        for _ in range(3):
            with pytest.raises(ModelUnavailable) as caught:
                list(model.stream(QUESTION))
            usages.append(caught.value.usage)
    assert usages[:2] == [Usage(prompt_tokens=11, completion_tokens=2), None]
    # The last call's first attempt told its usage; of its second, 8 characters arrived.
    assert usages[2] == USED + Usage(prompt_tokens=5, completion_tokens=2)


def test_a_stream_that_runs_out_of_time_tells_what_it_used_until_then() -> None:
    slow = says("Paris " * 100, pieces=100, between_s=0.05, counts_pieces=True)
    with asked([slow]) as (model, _), pytest.raises(ModelUnavailable) as caught:
        list(model.stream(QUESTION, limits=Limits(timeout_s=0.3)))
    assert caught.value.usage is not None
    assert 1 <= caught.value.usage.completion_tokens < 20


@pytest.mark.parametrize(
    "bad", [fails(500), garbage(), cut_off("Paris", after=0), Reply(raw=b"data: [1, 2]\n\n")]
)
def test_a_stream_that_fails_before_its_first_piece_is_tried_again(bad: Reply) -> None:
    with asked([bad, says("Paris")]) as (model, requests):
        *_, completion = model.stream(QUESTION)
    assert isinstance(completion, Completion)
    assert completion.text == "Paris"
    assert len(requests) == 2


@pytest.mark.parametrize(
    "event",
    [
        "{",
        "[]",
        "7",
        '"x"',
        '{"choices": [null]}',
        '{"choices": "x"}',
        '{"error": {"message": "x"}}',
    ],
)
def test_no_event_of_a_stream_makes_anything_but_a_model_error(event: str) -> None:
    raw = Reply(raw=f"data: {event}\n\n".encode(), headers={"Content-Type": "text/event-stream"})
    with asked([raw]) as (model, _), pytest.raises(ModelUnavailable):
        list(model.stream(QUESTION))


def test_a_stream_that_nobody_reads_on_leaves_nothing_behind() -> None:
    with asked([says("Paris " * 50, pieces=50, between_s=0.02)]) as (model, _):
        pieces = model.stream(QUESTION)
        assert next(pieces)
        pieces.close()  # type: ignore[attr-defined]
    assert not [t.name for t in threading.enumerate() if isinstance(t, threading.Timer)]


@pytest.mark.parametrize("ask", [OpenAIModel.complete, lambda *a: list(OpenAIModel.stream(*a))])
def test_a_key_is_in_no_message_and_no_repr(
    ask: Callable[..., object], capfd: pytest.CaptureFixture[str]
) -> None:
    echoes = refuses(400, f"What do you mean by Bearer {KEY}?")
    for script, key in (([echoes], KEY), ([says("Paris")], "another")):
        with asked(script, key=key) as (model, requests), pytest.raises(ModelRefused) as caught:
            ask(model, QUESTION)
        assert requests[0].headers["authorization"] == f"Bearer {KEY}"
        shown = [str(caught.value), repr(caught.value), repr(model), repr(vars(model))]
        assert not any(KEY in text for text in shown)
    assert KEY not in "".join(capfd.readouterr())


def test_what_the_environment_holds_for_openai_goes_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "not-yours")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer not-yours")
    with asked([says("Paris")], api_key=None, key=None) as (model, requests):
        model.complete(QUESTION)
    assert "not-yours" not in json.dumps(dict(requests[0].headers))


def test_a_call_may_have_all_the_time_there_is() -> None:
    with asked([says("Paris")]) as (model, _):
        assert model.complete(QUESTION, limits=Limits(timeout_s=float("inf"))).text == "Paris"


def test_calls_can_be_made_side_by_side() -> None:
    slow = says("Paris", after_s=0.2)
    with asked(lambda request: slow) as (model, requests):
        began = time.monotonic()
        threads = [threading.Thread(target=model.complete, args=(QUESTION,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - began < 1.5
    assert len(requests) == 8


def test_half_a_character_in_a_message_does_not_stop_it() -> None:
    with asked([says("Paris")]) as (model, requests):
        model.complete([Message(role="user", content="what \ud800 is it")])
    assert requests[0].last_message == "what \N{REPLACEMENT CHARACTER} is it"


@pytest.mark.parametrize("limits", [Limits(timeout_s=0.0), Limits(max_tokens=0)])
def test_limits_that_leave_no_room_are_told_before_the_call(limits: Limits) -> None:
    with asked([says("Paris")]) as (model, requests), pytest.raises(BudgetExceeded):
        model.complete(QUESTION, limits=limits)
    assert requests == []


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("by", ["events", "bytes"])
def test_a_character_that_comes_in_parts_is_whole(by: str, is_stream: bool) -> None:
    text = "Zürich \ud83d\ude00, \ud83d or \ude00"  # one smile, and two halves
    reply = says(text, pieces=len(text))
    if by == "bytes":
        delta = {"index": 0, "delta" if is_stream else "message": {"content": text}}
        whole = json.dumps({"choices": [{**delta, "finish_reason": "stop"}]}, ensure_ascii=False)
        sent = whole.replace("\ud83d\ude00", "\N{GRINNING FACE}").encode(errors="replace")
        kind = {"Content-Type": "text/event-stream"} if is_stream else {}
        reply = Reply(
            raw=b"data: %s\n\n" % sent if is_stream else sent, between_s=1e-5, headers=kind
        )
    with asked([reply]) as (model, _):
        pieces = list(model.stream(QUESTION)) if is_stream else [model.complete(QUESTION)]
    assert isinstance(pieces[-1], Completion)
    mark = "?" if by == "bytes" else "\N{REPLACEMENT CHARACTER}"
    assert pieces[-1].text == f"Zürich \N{GRINNING FACE}, {mark} or {mark}"
    if is_stream:
        assert "".join(map(str, pieces[:-1])) == pieces[-1].text


@pytest.mark.parametrize(
    ("base_url", "key"),
    [
        ("localhost:8000", None),
        ("http://127.0.0.1:port/v1", None),
        ("http://127.0.0.1:99999/v1", None),
        ("http://a host/v1", None),
        ("http://a..b/v1", None),
        ("http://x/v1\n", None),
        ("http://x/v1", "a\nb"),
    ],
)
def test_an_address_or_a_key_that_cannot_be_is_told_at_once(base_url: str, key: str | None) -> None:
    with pytest.raises(ValueError, match=r"of 'mine'.* is ") as caught:
        OpenAIModel("mine", base_url, None, PRICES, key)
    assert key is None or key not in str(caught.value)


def test_a_model_that_was_closed_answers_again() -> None:
    with asked([says("Paris")]) as (model, _):
        model.complete(QUESTION)
        model.close()
        assert model.complete(QUESTION).text == "Paris"


def test_the_client_library_is_loaded_by_the_first_call_alone() -> None:
    code = "import sys, cuda_gym.models.openai; print('openai' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_a_missing_client_library_is_told_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    model = OpenAIModel("mine", "http://127.0.0.1:1/v1", None, PRICES)
    for ask in (model.complete, lambda messages: next(model.stream(messages))):
        with pytest.raises(MissingTool, match=r"cuda-gym\[llm\]"):
            ask(QUESTION)
