"""A model that says what a script says: for tests, examples, and dry runs without a network.

Covered: answers in turn or by the conversation; errors in turn; a modelled latency; `Limits.max_tokens`, at which an answer is cut.
Not covered: tool calls, and real tokens: those of the usage are characters / 4, see `estimates`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cuda_gym.errors import ModelError, ModelRefused
from cuda_gym.models.estimates import (
    CHARACTERS_PER_TOKEN,
    Pace,
    check_limits,
    estimated_prompt_tokens,
    estimated_tokens,
    words,
)
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Prices, Usage

__all__ = ["ScriptedModel"]

_FREE = Prices(input_usd_per_million=0.0, output_usd_per_million=0.0)


class ScriptedModel:
    """Says what it is told to say. Safe to use from several threads, which share its turns.

    Args:
        name: Its name in a roster.
        answers: One for each call, in turn; or what to answer to a conversation.
        prices: Of its tokens; nothing costs anything without.
        first_token_s: Of the modelled latency.
        tokens_per_s: Of the modelled latency.
        sleeps: Whether that latency is really spent.
        fails: What the first calls raise, in turn; None for a call that succeeds. A call that fails
            takes no answer.

    >>> model = ScriptedModel("echo", lambda messages: messages[-1].content.upper())
    >>> model.complete([Message(role="user", content="hello")]).text
    'HELLO'
    """

    def __init__(
        self,
        name: str,
        answers: Sequence[str] | Callable[[Sequence[Message]], str],
        *,
        prices: Prices = _FREE,
        first_token_s: float = 0.0,
        tokens_per_s: float = float("inf"),
        sleeps: bool = False,
        fails: Sequence[ModelError | None] = (),
    ) -> None:
        if isinstance(answers, str):
            raise TypeError(f"answers of {name!r} is one text; give a sequence: [{answers!r}]")
        self._name = name
        self._answers = answers
        self._prices = prices
        self._pace = Pace(first_token_s=first_token_s, tokens_per_s=tokens_per_s, sleeps=sleeps)
        self._fails = tuple(fails)
        self._lock = threading.Lock()
        self._calls: list[tuple[Message, ...]] = []
        self._num_answered = 0

    @property
    def name(self) -> str:
        """Its name in a roster."""
        return self._name

    @property
    def prices(self) -> Prices:
        """Of its tokens."""
        return self._prices

    @property
    def calls(self) -> tuple[tuple[Message, ...], ...]:
        """The conversations that it was asked to go on with, failed calls included."""
        with self._lock:
            return tuple(self._calls)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """The next answer of the script.

        Raises:
            ModelRefused: the script is at its end.
            ModelUnavailable: the modelled latency is beyond the limits.
            ModelError: the script says so.
        """
        check_limits(self._name, limits)
        whole = self._next_answer(messages)
        text = whole[: limits.max_tokens * CHARACTERS_PER_TOKEN]
        usage = Usage(
            prompt_tokens=estimated_prompt_tokens(messages, tools),
            completion_tokens=estimated_tokens(text),
        )
        latency_s = self._pace.latency_s(usage.completion_tokens)
        self._pace.spend(self._name, latency_s, limits)
        return Completion(
            model=self._name,
            text=text,
            usage=usage,
            latency_s=latency_s,
            cost_usd=self._prices.cost_usd(usage),
            finish_reason="stop" if text == whole else "length",
            estimated=("usage", "latency_s"),
        )

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """The next answer of the script word by word, all at the end of its latency; then the completion."""
        completion = self.complete(messages, limits=limits)
        yield from words(completion.text)
        yield completion

    def _next_answer(self, messages: Sequence[Message]) -> str:
        with self._lock:
            call = len(self._calls)
            self._calls.append(tuple(messages))
            failure = self._fails[call] if call < len(self._fails) else None
            if failure is not None:
                raise failure
            turn = self._num_answered
            self._num_answered += 1
        if callable(self._answers):
            return self._answers(messages)
        if turn >= len(self._answers):
            raise ModelRefused(
                f"The script of {self._name!r} has {len(self._answers)} answers, and this is call "
                f"{turn + 1}. Give it more, or a function of the messages."
            )
        return self._answers[turn]
