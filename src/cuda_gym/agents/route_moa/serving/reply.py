"""The answer of a mixture as OpenAI's clients read it, at once or in pieces, with the bill and the route.

Covered: answers, pieces of a stream, errors. Not covered: how they are sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Any

from cuda_gym.agents.route_moa.answers import Answer, LayerRecord, Proposal, Route
from cuda_gym.agents.route_moa.bill import Bill
from cuda_gym.agents.route_moa.serving.request import MIXTURE, RequestError
from cuda_gym.core.plain import as_plain
from cuda_gym.errors import (
    BudgetExceeded,
    ContextExceeded,
    CudaGymError,
    ModelRefused,
    ModelUnavailable,
)

__all__ = ["ChatReply", "bill_of", "error_document", "status_of_error"]

_CHUNK = "chat.completion.chunk"

_STATUS: tuple[tuple[type[CudaGymError], HTTPStatus, str], ...] = (
    (ContextExceeded, HTTPStatus.BAD_REQUEST, "context_length_exceeded"),
    (BudgetExceeded, HTTPStatus.PAYMENT_REQUIRED, "budget_exceeded"),
    (ModelRefused, HTTPStatus.BAD_GATEWAY, "model_refused"),
    (ModelUnavailable, HTTPStatus.SERVICE_UNAVAILABLE, "model_unavailable"),
    (CudaGymError, HTTPStatus.BAD_GATEWAY, "no_answer"),
)


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """One answer in OpenAI's words, at once or in pieces."""

    id: str
    created: int
    """Seconds since 1970."""

    def whole(self, answer: Answer, *, latency_s: float) -> dict[str, Any]:
        """The answer as one document."""
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _finish_reason(answer),
        }
        return self._document("chat.completion", [choice]) | {
            "usage": _usage_document(answer.route.bill),
            **_extras(answer.route, latency_s),
        }

    def piece(self, text: str, *, is_first: bool) -> dict[str, Any]:
        """Some more of it."""
        delta = {"role": "assistant", "content": text} if is_first else {"content": text}
        return self._chunk(delta, None)

    def last(
        self, answer: Answer, *, latency_s: float, has_usage: bool
    ) -> tuple[dict[str, Any], ...]:
        """What ends a stream; the bill and the route are in the last of these."""
        end = self._chunk({}, _finish_reason(answer))
        extras = _extras(answer.route, latency_s)
        if not has_usage:
            return (end | extras,)
        usage = {"usage": _usage_document(answer.route.bill)}
        return (end | {"usage": None}, self._document(_CHUNK, []) | usage | extras)

    def _chunk(self, delta: Mapping[str, str], finish_reason: str | None) -> dict[str, Any]:
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return self._document(_CHUNK, [choice])

    def _document(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        head = {"id": self.id, "object": kind, "created": self.created, "model": MIXTURE}
        return head | {"choices": choices}


def status_of_error(error: CudaGymError) -> HTTPStatus:
    """The status that tells a client whose doing it is."""
    return _status_and_code(error)[0]


def error_document(error: CudaGymError) -> dict[str, Any]:
    """An error as OpenAI's clients read it, and what was spent until then."""
    status, code = _status_and_code(error)
    told: dict[str, Any] = {
        "message": str(error),
        "type": "invalid_request_error" if status < 500 else "server_error",
        "param": error.param if isinstance(error, RequestError) else None,
        "code": code,
    }
    bill = bill_of(error)
    document: dict[str, Any] = {"error": told}
    return document if bill is None else document | {"bill": bill.as_plain()}


def bill_of(ended: str | Answer | CudaGymError) -> Bill | None:
    """What was spent, as far as this tells it."""
    bill = ended.route.bill if isinstance(ended, Answer) else getattr(ended, "bill", None)
    return bill if isinstance(bill, Bill) else None


def _status_and_code(error: CudaGymError) -> tuple[HTTPStatus, str | None]:
    if isinstance(error, RequestError):
        return error.status, error.code
    return next((status, code) for kind, status, code in _STATUS if isinstance(error, kind))


def _finish_reason(answer: Answer) -> str:
    """`length` tells a client that the end of the answer is missing."""
    return "length" if answer.is_cut else "stop"


def _usage_document(bill: Bill) -> dict[str, int]:
    """The tokens of all calls together."""
    usage = bill.total.usage
    both = usage.prompt_tokens + usage.completion_tokens
    return {**as_plain(usage), "total_tokens": both}


def _extras(route: Route, latency_s: float) -> dict[str, Any]:
    return {
        "bill": route.bill.as_plain(),
        "route": _route_document(route),
        "latency_s": latency_s,
    }


def _route_document(route: Route) -> dict[str, Any]:
    """All but the bill, which has its own place, and the proposals' texts, which are long."""
    rest = {f.name: as_plain(getattr(route, f.name)) for f in fields(route) if f.name != "bill"}
    return rest | {"layers": [_layer_document(layer) for layer in route.layers]}


def _layer_document(layer: LayerRecord) -> dict[str, Any]:
    rest = {f.name: as_plain(getattr(layer, f.name)) for f in fields(layer)}
    return rest | {"proposals": [_proposal_document(proposal) for proposal in layer.proposals]}


def _proposal_document(proposal: Proposal) -> dict[str, Any]:
    return {
        "model": proposal.model,
        "self_score": proposal.self_score,
        "peer_scores": list(proposal.peer_scores),
        "usage": as_plain(proposal.completion.usage),
        "cost_usd": proposal.completion.cost_usd,
        "latency_s": proposal.completion.latency_s,
        "finish_reason": proposal.completion.finish_reason,
    }
