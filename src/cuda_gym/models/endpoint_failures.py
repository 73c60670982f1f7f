"""What an endpoint's failure means: whose fault it is, and whether trying again can help.

Covered: the codes of HTTP, and those in the bodies of OpenAI, vLLM and llama.cpp; a usage that comes with an error. What a
server says is quoted without the key, and not at all where it refuses the key, since servers quote that.
Not covered: a usage beside the error in an event of a stream, of which the client library keeps the error alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cuda_gym.errors import (
    BudgetExceeded,
    ContextExceeded,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from cuda_gym.models.chat_protocol import read_usage
from cuda_gym.models.model import Usage
from cuda_gym.models.retries import retry_after_s

if TYPE_CHECKING:
    import openai

__all__ = ["Failure", "Place", "failure_of"]

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT_WORDS = "maximum context length"  # vLLM and SGLang send no code of their own
_PASSING = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a model is asked for, as messages tell it."""

    name: str
    base_url: str
    """Without a password."""
    served_as: str
    key: str | None = field(repr=False)

    def without_key(self, text: str) -> str:
        """A server's words on one line, fit to be shown."""
        hidden = text if self.key is None else text.replace(self.key, "[key]")
        return " ".join(hidden.split())[:300]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Of one attempt."""

    kind: type[ModelError]
    fact: str
    remedy: str
    is_passing: bool = False
    """Whether another attempt may go well."""
    asked_s: float | None = None
    """How long the server wants to be left alone."""
    usage: Usage | None = None
    """What it says that the attempt used nevertheless."""


def failure_of(error: Exception, place: Place) -> Failure:
    """What an error of the client library means, or of reading what it brought."""
    return replace(_failure_of(error, place), usage=_usage_in(error))


def _failure_of(error: Exception, place: Place) -> Failure:
    import openai  # not above: it takes most of a second, which only its users should pay

    if isinstance(error, openai.APIStatusError):
        return _failure_of_status(error, place)
    if isinstance(error, openai.APITimeoutError):
        return _passing("it did not answer in time")
    if isinstance(error, openai.APIConnectionError):
        return _passing("the connection failed or was cut off")
    if isinstance(error, openai.APIError):  # an event of a stream that tells an error
        if _is_about_context(error.code, error.message):
            return _too_long(error.message, place)
        return _passing(f"it broke off and says {place.without_key(error.message)!r}")
    if not isinstance(error, (ValueError, RecursionError)):
        return _passing("the connection failed or was cut off")
    if _is_about_context(None, str(error)):
        return _too_long(str(error), place)
    return _passing(f"what it sent is no completion: {place.without_key(str(error))}")


def _failure_of_status(error: openai.APIStatusError, place: Place) -> Failure:
    status, code = error.status_code, error.code
    body = error.body if isinstance(error.body, Mapping) else {}
    said = place.without_key(str(body.get("message") or error.message))
    told = f"HTTP {status}, {said!r}"
    if status in (400, 413, 422) and _is_about_context(code or body.get("type"), said):
        return _too_long(said, place)
    if status == 402 or code == "insufficient_quota":
        return Failure(
            kind=BudgetExceeded, fact=told, remedy="Its account has no money left: add some."
        )
    if status in _PASSING or status >= 500:
        asked_s = retry_after_s(error.response.headers.get("retry-after"), time.time())
        return _passing(told, asked_s=asked_s)
    if status in (401, 403):
        return Failure(
            kind=ModelRefused,
            fact=f"HTTP {status}",
            remedy="Its key is wrong or missing: check api_key.",
        )
    if status == 404 or 300 <= status < 400:  # a key is not carried elsewhere
        remedy = f"Check base_url and served_as={place.served_as!r}."
        return Failure(kind=ModelRefused, fact=told, remedy=remedy)
    return Failure(kind=ModelRefused, fact=told, remedy="The request does not suit this server.")


def _usage_in(error: Exception) -> Usage | None:
    """What the body of an error tells, beside the error or within it."""
    body = getattr(error, "body", None)
    if body is None:
        return None
    response = getattr(error, "response", None)
    try:
        beside = None if response is None else read_usage(response.json())
    except (ValueError, RecursionError):
        beside = None
    return beside or read_usage(body)


def _is_about_context(code: object, message: str) -> bool:
    return (isinstance(code, str) and code in _CONTEXT_CODES) or any(
        words in message for words in (_CONTEXT_WORDS, *_CONTEXT_CODES)
    )


def _too_long(message: str, place: Place) -> Failure:
    return Failure(
        kind=ContextExceeded,
        fact=place.without_key(message),
        remedy="Send a shorter prompt, or lower max_tokens.",
    )


def _passing(fact: str, asked_s: float | None = None) -> Failure:
    return Failure(
        kind=ModelUnavailable,
        fact=fact,
        remedy="See whether the server is up, or use another model.",
        is_passing=True,
        asked_s=asked_s,
    )
