"""What goes to an OpenAI-compatible endpoint, and what comes back.

Covered: text, tool calls, usage; servers that leave out or misspell what the protocol asks for; characters of which
JSON has only a half. Not covered: images, audio, several choices, log-probabilities; what a model thinks before it answers, of
which only the tokens count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cuda_gym.models.model import Limits, Message, ToolCall, Usage

__all__ = [
    "NoCompletion",
    "Piece",
    "Reply",
    "read_piece",
    "read_reply",
    "read_usage",
    "real_text",
    "request_of",
]

LimitName = Literal["max_tokens", "max_completion_tokens"]


class NoCompletion(ValueError):
    """What came is not what the protocol asks for."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A whole answer."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage | None
    """None where the server told none that can be."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What one event of a stream brings."""

    text: str
    """It may end or begin with half of a character, see `real_text`."""
    finish_reason: str | None
    usage: Usage | None


def request_of(
    served_as: str,
    messages: Sequence[Message],
    limits: Limits,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    limit_name: LimitName = "max_tokens",
) -> dict[str, Any]:
    """The body of a request, without what makes it a stream."""
    request: dict[str, Any] = {
        "model": served_as,
        "messages": [_message(message) for message in messages],
        limit_name: limits.max_tokens,
    }
    if limits.temperature is not None:
        request["temperature"] = limits.temperature
    if tools:
        request["tools"] = [dict(tool) for tool in tools]
    return request


def read_reply(body: object) -> Reply:
    """A whole answer from the JSON that came.

    Raises:
        NoCompletion: it is none.
    """
    choice = _first_choice(body)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise NoCompletion("its first choice has no message")
    calls = _tool_calls(message.get("tool_calls"))
    reason = choice.get("finish_reason")
    return Reply(
        text=real_text(_text(message.get("content"))),
        tool_calls=calls,
        finish_reason=reason if isinstance(reason, str) else ("tool_calls" if calls else "stop"),
        usage=read_usage(body),
    )


def read_piece(event: object) -> Piece:
    """One event of a stream from the JSON that came.

    Raises:
        NoCompletion: it is none.
    """
    if not isinstance(event, Mapping):
        raise NoCompletion(f"an event of the stream is no object: {event!r:.80}")
    if not event.get("choices"):  # the last one, which brings the usage
        return Piece(text="", finish_reason=None, usage=read_usage(event))
    choice = _first_choice(event)
    delta = choice.get("delta")
    reason = choice.get("finish_reason")
    return Piece(
        text=_text(delta.get("content")) if isinstance(delta, Mapping) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        usage=read_usage(event),
    )


def real_text(text: str) -> str:
    r"""Text that can be printed and sent: halves of a character beside each other are it, and alone they are a mark.

    JSON writes most emoji as two halves, and a server may send them one after the other, or one alone.

    >>> real_text("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_usage(body: object) -> Usage | None:
    """The tokens that the server tells; None where they are missing, or no counts."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    if not all(type(count) is int and count >= 0 for count in counts):
        return None
    return Usage(prompt_tokens=int(counts[0] or 0), completion_tokens=int(counts[1] or 0))


def _message(message: Message) -> dict[str, Any]:
    content = real_text(message.content)
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        plain["content"] = content or None
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        plain["tool_call_id"] = message.tool_call_id
    return plain


def _first_choice(body: object) -> Mapping[str, Any]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, Sequence) or not choices or not isinstance(choices[0], Mapping):
        said = body.get("error") if isinstance(body, Mapping) else None
        raise NoCompletion(f"it says {said!r:.200}" if said else "it has no choices")
    return choices[0]


def _text(content: object) -> str:
    """Of a content, which some servers send in parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = (part.get("text") for part in content if isinstance(part, Mapping))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tool_calls(calls: object) -> tuple[ToolCall, ...]:
    found = []
    for number, call in enumerate(calls if isinstance(calls, Sequence) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise NoCompletion(f"its tool call {number} names no function")
        arguments = function.get("arguments")
        found.append(
            ToolCall(
                id=str(call.get("id") or f"call_{number}"),
                name=function["name"],
                arguments=arguments if isinstance(arguments, str) else json.dumps(arguments or {}),
            )
        )
    return tuple(found)
