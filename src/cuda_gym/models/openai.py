"""A model behind any OpenAI-compatible endpoint, through the `openai` client library.

Covered: whole and streamed answers, native tool calls, usage and cost; calls that fail in passing are tried again, all
within `Limits.timeout_s`; usage is estimated from characters, and said to be, where the server tells none; what it tells
of attempts that failed counts too, in the completion or in the error; and so does the prompt of a call that its deadline
ended while the server was at work. Every call has a connection of its own, which is what lets a deadline end it. Not
covered: tool calls in a stream; what a server charges beyond that for a failed attempt of which it tells no usage; how
large an answer it sends.

A key goes into the header of a request and nowhere else: into no message, no repr, and to no other host.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from cuda_gym.errors import ModelError, ModelUnavailable
from cuda_gym.models.chat_protocol import LimitName, Reply, request_of
from cuda_gym.models.deadline import Deadline
from cuda_gym.models.endpoint import Endpoint
from cuda_gym.models.endpoint_failures import Failure, Place
from cuda_gym.models.estimates import check_limits, estimated_prompt_tokens, estimated_tokens
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Prices, Usage
from cuda_gym.models.retries import Retries

__all__ = ["OpenAIModel"]

_DEFAULT_RETRIES = Retries()
_NOTHING = Usage(prompt_tokens=0, completion_tokens=0)


class OpenAIModel:
    """A model of an endpoint. Safe to use from several threads.

    Args:
        name: Its name in a roster.
        base_url: Up to and with `/v1`.
        served_as: The endpoint's name of it; None is the same.
        prices: Of its tokens.
        api_key: Sent as a bearer token; None for an endpoint that asks for none.
        retries: How often a call is tried again, and after how long.
        limit_name: What the endpoint calls the limit of a completion.
        attempt_timeout_s: Of one attempt, so that there is time for another; None leaves it all to one.

    Raises:
        ValueError: the address or the key cannot be one.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        served_as: str | None,
        prices: Prices,
        api_key: str | None = None,
        *,
        retries: Retries = _DEFAULT_RETRIES,
        limit_name: LimitName = "max_tokens",
        attempt_timeout_s: float | None = None,
    ) -> None:
        if not _is_address(base_url):
            shown = base_url.rpartition("@")[2]  # without a password
            raise ValueError(
                f"the base_url of {name!r}, {shown[:200]!r}, is no address: "
                "it looks like http://127.0.0.1:8000/v1"
            )
        parts = urlsplit(base_url)
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key):
            raise ValueError(
                f"the api_key of {name!r} is empty, or has a character that no header may hold, "
                "such as a line end: copy it anew"
            )
        host = parts.netloc.rpartition("@")[2]
        self._place = Place(
            name=name,
            base_url=f"{parts.scheme}://{host}{parts.path}",
            served_as=served_as or name,
            key=api_key,
        )
        self._endpoint = Endpoint(self._place, base_url, attempt_timeout_s)
        self._prices = prices
        self._retries = retries
        self._limit_name = limit_name
        self._dice = random.Random()

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, {self._place.base_url!r})"

    @property
    def name(self) -> str:
        """Its name in a roster."""
        return self._place.name

    @property
    def prices(self) -> Prices:
        """Of its tokens."""
        return self._prices

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """The next turn; its latency and usage are those of all attempts together.

        The first call also loads the client library, outside of limits and latency, if `open` did not.

        Raises:
            MissingTool: the package `openai` is not installed.
            ModelUnavailable: no answer in time, or none after all attempts.
            ModelRefused: the endpoint does not take the key, the name or the request.
            ContextExceeded: the endpoint says that the prompt is too long.
            BudgetExceeded: the limits leave no room for an answer, or the endpoint's account no money.
        """
        check_limits(self.name, limits)
        self._endpoint.client()  # what it takes to load it is not the model's latency
        request = request_of(
            self._place.served_as, messages, limits, tools=tools, limit_name=self._limit_name
        )
        prompt_tokens = estimated_prompt_tokens(messages, tools)
        with Deadline(limits.timeout_s) as deadline:
            attempt, spent = 0, _NOTHING
            while isinstance(reply := self._endpoint.whole(request, deadline), Failure):
                self._wait(reply, attempt, deadline, limits, spent, prompt_tokens)
                spent += reply.usage or _NOTHING
                attempt += 1
            latency_s = deadline.passed_s
        return self._completion(reply, prompt_tokens, latency_s, spent)

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """Pieces of text as they come, then the completion.

        The caller's time between the pieces counts. Once a piece is out, a failure is not tried again.

        Raises:
            ModelError: as `complete`.
        """
        check_limits(self.name, limits)
        self._endpoint.client()  # what it takes to load it is not the model's latency
        request = request_of(self._place.served_as, messages, limits, limit_name=self._limit_name)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        prompt_tokens = estimated_prompt_tokens(messages)
        with Deadline(limits.timeout_s) as deadline:
            attempt, num_characters, spent = 0, 0, _NOTHING
            reply: Reply | Failure | None = None
            while not isinstance(reply, Reply):
                with closing(self._endpoint.streamed(request, deadline)) as pieces:
                    for piece in pieces:
                        if isinstance(piece, str):
                            num_characters += len(piece)
                            yield piece
                        else:
                            reply = piece
                if isinstance(reply, Failure):
                    if num_characters:
                        if reply.usage is None and spent != _NOTHING:  # else nothing is told
                            spent += _estimated(prompt_tokens, num_characters)
                        far = f"after {num_characters:,} characters of it"
                        raise self._error(reply, far, spent + (reply.usage or _NOTHING))
                    self._wait(reply, attempt, deadline, limits, spent, prompt_tokens)
                    spent += reply.usage or _NOTHING
                    attempt += 1
            latency_s = deadline.passed_s
        yield self._completion(reply, prompt_tokens, latency_s, spent)

    def open(self) -> None:
        """Load the client library, which takes most of a second, so that no call has to.

        Raises:
            MissingTool: the package `openai` is not installed.
        """
        self._endpoint.client()

    def close(self) -> None:
        """Let go of the client library's state; the next call makes it anew."""
        self._endpoint.close()

    def _wait(
        self,
        failure: Failure,
        attempt: int,
        deadline: Deadline,
        limits: Limits,
        spent: Usage,
        prompt_tokens: int,
    ) -> None:
        """Before the next attempt.

        Raises:
            ModelError: there is to be none.
        """
        is_at_work = (
            failure.is_passing
            and failure.usage is None
            and deadline.left_s == 0.0
            and deadline.was_sent
        )
        spent += _estimated(prompt_tokens, 0) if is_at_work else failure.usage or _NOTHING
        tries = f"after {attempt + 1} attempt{'s' if attempt else ''}"
        if not failure.is_passing:
            raise self._error(failure, tries, spent)
        left_s = deadline.left_s
        if left_s == 0.0:
            late = ModelUnavailable(
                f"{self.name!r} at {self._place.base_url} gave no whole answer within "
                f"Limits.timeout_s={limits.timeout_s:g}, {tries}. Give it more time, or use another model."
            )
            late.may_have_used_more = is_at_work
            raise _with_usage(late, spent)
        if attempt + 1 >= self._retries.num_attempts:
            raise self._error(failure, tries, spent)
        wait_s = self._retries.wait_s(attempt, failure.asked_s, self._dice)
        if wait_s >= left_s:
            asked = (
                ""
                if failure.asked_s is None
                else f" it asks for {failure.asked_s:g} s of peace and"
            )
            raise self._error(failure, f"{tries};{asked} {left_s:.3g} s are left", spent)
        deadline.pause(wait_s)

    def _error(self, failure: Failure, circumstances: str, spent: Usage) -> ModelError:
        error = failure.kind(
            f"{self.name!r} at {self._place.base_url} gave no answer: {failure.fact}, "
            f"{circumstances}. {failure.remedy}"
        )
        return _with_usage(error, spent)

    def _completion(
        self, reply: Reply, prompt_tokens: int, latency_s: float, spent: Usage
    ) -> Completion:
        """What a reply gives, and what the attempts before it used."""
        calls = "".join(call.name + call.arguments for call in reply.tool_calls)
        usage = spent + (reply.usage or _estimated(prompt_tokens, len(reply.text + calls)))
        return Completion(
            model=self.name,
            text=reply.text,
            usage=usage,
            latency_s=latency_s,
            cost_usd=self._prices.cost_usd(usage),
            finish_reason=reply.finish_reason,
            tool_calls=reply.tool_calls,
            estimated=() if reply.usage is not None else ("usage",),
        )


def _is_address(base_url: str) -> bool:
    """Whether it can be called: what is wrong with it, the client library finds in the middle of a call."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        is_place = bool(host.encode("idna")) and " " not in host and parts.port != 0
    except ValueError:
        return False
    return is_place and parts.scheme in ("http", "https") and base_url.isprintable()


def _estimated(prompt_tokens: int, num_characters: int) -> Usage:
    return Usage(
        prompt_tokens=prompt_tokens, completion_tokens=estimated_tokens("-" * num_characters)
    )


def _with_usage(error: ModelError, spent: Usage) -> ModelError:
    error.usage = None if spent == _NOTHING else spent
    return error
