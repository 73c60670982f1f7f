"""A chat completion in OpenAI's format, as it is asked of a mixture.

Covered: messages of text, streams, limits on tokens and temperature. A parameter that would change the
answer and that a mixture cannot honour is refused, unless its value changes nothing.
Not covered: pictures and sound, tools, several choices, log probabilities.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from cuda_gym.agents.route_moa.bill import Bill
from cuda_gym.agents.route_moa.conversation import last_of, prompt_of
from cuda_gym.errors import CudaGymError, did_you_mean
from cuda_gym.models.model import Message, Role

__all__ = ["MIXTURE", "ChatRequest", "RequestError", "read_request"]

MIXTURE = "routemoa"
"""The one model that is served."""

_CHANGES_NOTHING: Mapping[str, tuple[Any, ...]] = {
    "n": (1,),
    "top_p": (1,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "logit_bias": ({},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "stop": ([],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "modalities": (["text"],),
    "response_format": ({"type": "text"},),
}
"""Parameters that are not honoured, and the values that they may have nevertheless."""

_WITHOUT_EFFECT = frozenset(
    {"metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier", "seed"}
    | {"service_tier", "store", "user"}
)
"""Of no effect on what an answer says, or a wish that OpenAI does not promise to grant either."""

_HONOURED = frozenset(
    {"model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
    | {"temperature"}
)

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


class RequestError(CudaGymError):
    """A request that is not answered; the message says what would be."""

    def __init__(
        self,
        message: str,
        *,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.headers = dict(headers or {})
        self.bill: Bill | None = None
        """Of calls that were made for it before it ended."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """What is asked."""

    query: str
    """The last message, which is the user's: by this the mixture routes."""
    prompt: str
    """What the models read: the query; where there are earlier messages, these and then the query."""
    is_stream: bool = False
    has_usage: bool = False
    """Whether a stream ends with a piece that has the usage and no choice, as its reader wishes."""
    max_tokens: int | None = None
    temperature: float | None = None


def read_request(body: bytes) -> ChatRequest:
    """Read what was posted.

    Raises:
        RequestError: it is no request, or none that a mixture can honour.
    """
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The body is not JSON: {error}.", code="invalid_json") from None
    if not isinstance(asked, dict):
        raise RequestError(f"The body is a JSON object; got {type(asked).__name__}.")
    asked = {name: value for name, value in asked.items() if value is not None}
    _check_names(asked)
    _check_model(asked.get("model"))
    query, prompt = _read_messages(asked.get("messages"))
    options = _typed(asked, "stream_options", dict, {})
    return ChatRequest(
        query=query,
        prompt=prompt,
        is_stream=_typed(asked, "stream", bool, False),
        has_usage=_typed(options, "include_usage", bool, False),
        max_tokens=_read_max_tokens(asked),
        temperature=_read_temperature(asked),
    )


def _check_names(asked: Mapping[str, Any]) -> None:
    for name, value in asked.items():
        if name in _HONOURED or name in _WITHOUT_EFFECT:
            continue
        if name not in _CHANGES_NOTHING:
            known = _HONOURED | _WITHOUT_EFFECT | _CHANGES_NOTHING.keys()
            raise RequestError(
                f"There is no parameter {name!r}.{did_you_mean(name, known)}",
                code="unknown_parameter",
                param=name,
            )
        if value not in _CHANGES_NOTHING[name]:
            allowed = " or ".join(json.dumps(each) for each in _CHANGES_NOTHING[name])
            raise RequestError(
                f"A mixture cannot honour {name!r}: leave it out, or give {allowed}.",
                code="unsupported_parameter",
                param=name,
            )


def _check_model(model: Any) -> None:
    if model is None:
        raise RequestError(f"'model' is missing; it is {MIXTURE!r}.", param="model")
    if model != MIXTURE:
        raise RequestError(
            f"There is no model {model!r} here; there is {MIXTURE!r} alone.",
            status=HTTPStatus.NOT_FOUND,
            code="model_not_found",
            param="model",
        )


def _read_messages(messages: Any) -> tuple[str, str]:
    """The last message, and the whole conversation as one prompt."""
    if not isinstance(messages, list) or not messages:
        raise RequestError("'messages' is a list of at least one message.", param="messages")
    turns = [_read_message(message, index) for index, message in enumerate(messages)]
    role, query = turns[-1].role, last_of(turns)
    if role != "user" or not query.strip():
        raise RequestError(
            f"The last message is what the mixture answers: it is the user's and has text; this one's "
            f"role is {role!r} and it has {len(query):,} characters.",
            param=f"messages[{len(turns) - 1}]",
        )
    return query, prompt_of(turns)


def _read_message(message: Any, index: int) -> Message:
    where = f"messages[{index}]"
    if not isinstance(message, dict):
        raise RequestError(f"{where} is an object; got {type(message).__name__}.", param=where)
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise RequestError(
            f"{where} has the role {role!r}; a mixture reads {', '.join(_ROLES)}.",
            param=f"{where}.role",
        )
    text = _text_of(message.get("content"))
    if text is None:
        raise RequestError(
            f"{where} has a content that is no text: a mixture reads a string, or parts of the type 'text'.",
            param=f"{where}.content",
        )
    return Message(role=_ROLES[role], content=text)


def _text_of(content: Any) -> str | None:
    if isinstance(content, list) and all(_is_text(part) for part in content):
        content = "\n".join(part["text"] for part in content)
    # Half of a surrogate pair is JSON, and nothing that could be sent on.
    is_text = isinstance(content, str) and not any("\ud800" <= each <= "\udfff" for each in content)
    return content if is_text else None


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    )


def _typed(asked: Mapping[str, Any], name: str, kind: type[Any], otherwise: Any) -> Any:
    value = asked.get(name, otherwise)
    if not isinstance(value, kind):
        raise RequestError(f"{name!r} is a {kind.__name__}; got {value!r}.", param=name)
    return value


def _read_max_tokens(asked: Mapping[str, Any]) -> int | None:
    name = "max_completion_tokens" if "max_completion_tokens" in asked else "max_tokens"
    value = asked.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RequestError(f"{name!r} is a whole number above 0; got {value!r}.", param=name)
    return value


def _read_temperature(asked: Mapping[str, Any]) -> float | None:
    value = asked.get("temperature")
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 <= value <= 2:
        raise RequestError(
            f"'temperature' is a number from 0 to 2; got {value!r}.", param="temperature"
        )
    return float(value)
