"""A model that gives the answers that a real one once gave: for measuring offline.

Covered: recorded texts, with recorded tokens and seconds where there are some, and estimates where there are none (said in
`Completion.estimated`); a question without a record. Not covered: what the model would have said to another prompt,
or under other limits: a recorded answer is whole whatever `Limits.max_tokens` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuda_gym.errors import ModelRefused
from cuda_gym.models.estimates import (
    Pace,
    check_limits,
    estimated_prompt_tokens,
    estimated_tokens,
    words,
)
from cuda_gym.models.model import (
    DEFAULT_LIMITS,
    Completion,
    Estimated,
    Limits,
    Message,
    Prices,
    Usage,
)

__all__ = ["Recorded", "ReplayingModel"]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One answer of a real model."""

    text: str
    prompt_tokens: int | None = None
    """None: estimated from the messages of the call."""
    completion_tokens: int | None = None
    """None: estimated from the text."""
    latency_s: float | None = None
    """None: modelled from the model's pace."""
    is_estimated: bool = False
    """Whether the tokens above are themselves an estimate, for example from a recorded length."""


class ReplayingModel:
    """Answers from a record. Without a state, so safe to use from several threads.

    Args:
        name: Its name in a roster.
        records: What it answered, by the key of a conversation.
        key: The key of a conversation, for example a question's number found by its text.
        prices: Of its tokens.
        first_token_s: Of the modelled latency.
        tokens_per_s: Of the modelled latency.
        sleeps: Whether a latency is really spent.

    >>> model = ReplayingModel("parrot", {"2+2": Recorded(text="4", completion_tokens=100)},
    ...     key=lambda messages: messages[-1].content, first_token_s=0.5, tokens_per_s=50.0,
    ...     prices=Prices(input_usd_per_million=1.0, output_usd_per_million=4.0))
    >>> completion = model.complete([Message(role="user", content="2+2")])
    >>> completion.text, completion.latency_s, completion.estimated
    ('4', 2.5, ('usage', 'latency_s'))
    """

    def __init__(
        self,
        name: str,
        records: Mapping[str, Recorded],
        *,
        key: Callable[[Sequence[Message]], str],
        prices: Prices,
        first_token_s: float = 0.0,
        tokens_per_s: float = float("inf"),
        sleeps: bool = False,
    ) -> None:
        self._name = name
        self._records = records
        self._key = key
        self._prices = prices
        self._pace = Pace(first_token_s=first_token_s, tokens_per_s=tokens_per_s, sleeps=sleeps)

    @property
    def name(self) -> str:
        """Its name in a roster."""
        return self._name

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
        """What it answered when it was recorded.

        Raises:
            ModelRefused: it was not recorded for this conversation.
            ModelUnavailable: its latency is beyond the limits.
        """
        check_limits(self._name, limits)
        key = self._key(messages)
        recorded = self._records.get(key)
        if recorded is None:
            raise ModelRefused(
                f"There is no record of {self._name!r} for {key[:80]!r}; it has "
                f"{len(self._records):,}. Count it as a missing label, or ask another model."
            )
        return self._completion(recorded, messages, limits, tools)

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """What it answered word by word, all at the end of its latency; then the completion."""
        completion = self.complete(messages, limits=limits)
        yield from words(completion.text)
        yield completion

    def _completion(
        self,
        recorded: Recorded,
        messages: Sequence[Message],
        limits: Limits,
        tools: Sequence[Mapping[str, Any]],
    ) -> Completion:
        prompt, answer = recorded.prompt_tokens, recorded.completion_tokens
        estimated: list[Estimated] = []
        if prompt is None or answer is None or recorded.is_estimated:
            estimated.append("usage")
        usage = Usage(
            prompt_tokens=estimated_prompt_tokens(messages, tools) if prompt is None else prompt,
            completion_tokens=estimated_tokens(recorded.text) if answer is None else answer,
        )
        latency_s = recorded.latency_s
        if latency_s is None:
            latency_s = self._pace.latency_s(usage.completion_tokens)
            estimated.append("latency_s")
        self._pace.spend(self._name, latency_s, limits)
        return Completion(
            model=self._name,
            text=recorded.text,
            usage=usage,
            latency_s=latency_s,
            cost_usd=self._prices.cost_usd(usage),
            estimated=tuple(estimated),
        )
