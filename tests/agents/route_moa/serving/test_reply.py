from __future__ import annotations

import json
from http import HTTPStatus

import pytest
from tests.agents.route_moa.serving.scripted_mixture import answer_of

from cuda_gym.agents.route_moa.answers import NoAnswer
from cuda_gym.agents.route_moa.serving.reply import ChatReply, error_document, status_of_error
from cuda_gym.agents.route_moa.serving.request import RequestError
from cuda_gym.errors import (
    BudgetExceeded,
    ContextExceeded,
    CudaGymError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    RosterError,
)

REPLY = ChatReply(id="chatcmpl-1", created=1)
ANSWER = answer_of("Paris")


def test_the_usage_is_that_of_all_calls_together() -> None:
    assert REPLY.whole(ANSWER, latency_s=1.0)["usage"] == {
        "prompt_tokens": 30,
        "completion_tokens": 8,
        "total_tokens": 38,
    }


def test_the_route_tells_all_but_the_texts_that_others_wrote() -> None:
    document = REPLY.whole(ANSWER, latency_s=1.0)
    assert document["choices"][0]["message"]["content"] == "Paris"
    assert "Paris" not in json.dumps(document["route"])
    assert document["route"]["exit"] == "unanimity"
    assert document["route"]["layers"][0]["proposals"][1]["model"] == "large"
    assert document["bill"]["cost_usd"] == 0.5
    assert document["latency_s"] == 1.0


def test_the_bill_is_in_the_last_piece_of_a_stream_whether_or_not_it_has_the_usage() -> None:
    (plain,) = REPLY.last(ANSWER, latency_s=1.0, has_usage=False)
    end, usage = REPLY.last(ANSWER, latency_s=1.0, has_usage=True)
    assert plain["choices"][0]["finish_reason"] == end["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == 38
    assert "bill" not in end
    assert plain["bill"] == usage["bill"] == ANSWER.route.bill.as_plain()


def test_an_answer_whose_end_is_missing_says_so_at_once_and_at_the_end_of_a_stream() -> None:
    for answer, reason in ((ANSWER, "stop"), (answer_of("Par", is_cut=True), "length")):
        assert REPLY.whole(answer, latency_s=1.0)["choices"][0]["finish_reason"] == reason
        end, *_ = REPLY.last(answer, latency_s=1.0, has_usage=True)
        assert end["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ContextExceeded(""), HTTPStatus.BAD_REQUEST, "context_length_exceeded"),
        (BudgetExceeded(""), HTTPStatus.PAYMENT_REQUIRED, "budget_exceeded"),
        (ModelRefused(""), HTTPStatus.BAD_GATEWAY, "model_refused"),
        (ModelUnavailable(""), HTTPStatus.SERVICE_UNAVAILABLE, "model_unavailable"),
        (ModelError(""), HTTPStatus.BAD_GATEWAY, "no_answer"),
        (RosterError(""), HTTPStatus.BAD_GATEWAY, "no_answer"),
        (RequestError("", status=HTTPStatus.CONFLICT, code="x"), HTTPStatus.CONFLICT, "x"),
    ],
)
def test_an_error_says_whose_doing_it_is(error: CudaGymError, status: int, code: str) -> None:
    told = error_document(error)["error"]
    assert status_of_error(error) == status
    assert told["code"] == code
    assert told["type"] == ("invalid_request_error" if status < 500 else "server_error")


def test_an_error_after_calls_has_their_bill() -> None:
    bill = ANSWER.route.bill
    assert error_document(NoAnswer("all failed", bill))["bill"] == bill.as_plain()
    assert "bill" not in error_document(ModelUnavailable("nobody was called"))
