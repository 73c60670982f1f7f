from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pytest

from cuda_gym.agents.route_moa.serving.request import ChatRequest, RequestError, read_request

QUESTION = {"role": "user", "content": "What is the capital of France?"}


def read(*messages: dict[str, Any], **options: Any) -> ChatRequest:
    asked = {"model": "routemoa", "messages": messages or [QUESTION], **options}
    return read_request(json.dumps(asked).encode())


def test_a_question_alone_is_asked_as_it_stands() -> None:
    request = read(QUESTION)
    assert request.query == request.prompt == QUESTION["content"]
    assert not request.is_stream
    assert request.max_tokens is request.temperature is None


def test_earlier_turns_are_read_by_the_models_and_the_last_one_is_routed_by() -> None:
    request = read(
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Of Italy?"}]},
        {"role": "assistant", "content": "Rome."},
        QUESTION,
    )
    assert request.query == QUESTION["content"]
    places = [
        request.prompt.index(text)
        for text in (
            "[system]\nBe brief.",
            "[user]\nOf Italy?",
            "[assistant]\nRome.",
            request.query,
        )
    ]
    assert places == sorted(places)
    assert request.prompt.endswith(request.query)


def test_limits_and_streams_are_honoured_and_null_is_left_out() -> None:
    request = read(
        max_completion_tokens=5,
        max_tokens=9,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
        stop=None,
    )
    assert (request.max_tokens, request.temperature) == (5, 0.0)
    assert request.is_stream
    assert request.has_usage


def test_what_changes_nothing_may_be_said() -> None:
    assert read(n=1, top_p=1.0, tools=[], seed=3, user="me", response_format={"type": "text"})


@pytest.mark.parametrize(
    ("options", "told", "param"),
    [
        ({"n": 2}, "leave it out, or give 1", "n"),
        ({"tools": [{}]}, "cannot honour 'tools'", "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format", "response_format"),
        ({"temprature": 1}, "Did you mean 'temperature'", "temprature"),
        ({"temperature": float("nan")}, "from 0 to 2; got nan", "temperature"),
        ({"temperature": True}, "got True", "temperature"),
        ({"max_tokens": 0}, "got 0", "max_tokens"),
        ({"stream": "yes"}, "'stream' is a bool", "stream"),
        ({"stream_options": []}, "'stream_options' is a dict", "stream_options"),
        ({"messages": []}, "at least one message", "messages"),
        ({"messages": ["hello"]}, "messages[0] is an object", "messages[0]"),
        ({"messages": [{"role": "tool", "content": ""}]}, "role 'tool'", "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "no text", "messages[0].content"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "no text", "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "no text",
            "messages[0].content",
        ),
        ({"messages": [{"role": "assistant", "content": "Hi"}]}, "'assistant'", "messages[0]"),
        ({"messages": [{"role": "user", "content": " "}]}, "1 characters", "messages[0]"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_its_place(
    options: dict[str, Any], told: str, param: str
) -> None:
    with pytest.raises(RequestError) as refused:
        read(**options)
    assert told in str(refused.value)
    assert refused.value.param == param
    assert refused.value.status == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError, match="The body is"):
        read_request(body)


def test_there_is_one_model() -> None:
    with pytest.raises(RequestError, match="'routemoa' alone") as refused:
        read(model="gpt")
    assert refused.value.status == HTTPStatus.NOT_FOUND
    with pytest.raises(RequestError, match="it is 'routemoa'"):
        read(model=None)
