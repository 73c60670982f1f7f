"""Tokens and seconds where nobody counts or measures them.

Covered: a count of tokens from characters, four to a token, as English prose has them on average; the latency of a
model that is described by two figures. Not covered: any real tokenizer; code and other languages have fewer
characters to a token, so that their counts are too low.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuda_gym.errors import BudgetExceeded, ModelUnavailable
from cuda_gym.models.model import Limits, Message

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "Pace",
    "check_limits",
    "estimated_prompt_tokens",
    "estimated_tokens",
    "words",
]

CHARACTERS_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """Tokens of a text, from its length, rounded up.

    >>> estimated_tokens("What is 6 times 7?")
    5
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def estimated_prompt_tokens(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
) -> int:
    """Tokens of a conversation and of the tools that are described in it."""
    characters = sum(
        len(message.content) + sum(len(c.name) + len(c.arguments) for c in message.tool_calls)
        for message in messages
    )
    characters += sum(len(json.dumps(tool)) for tool in tools)
    return -(-characters // CHARACTERS_PER_TOKEN)


def check_limits(name: str, limits: Limits) -> None:
    """Limits leave room for an answer.

    Raises:
        BudgetExceeded: they do not.
    """
    if not limits.timeout_s > 0:
        raise BudgetExceeded(
            f"{name} was given {limits.timeout_s:g} s for a call; give it more than 0."
        )
    if limits.max_tokens < 1:
        raise BudgetExceeded(
            f"{name} was given {limits.max_tokens} tokens for an answer; give it 1 or more."
        )


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast an answer comes, by the model of it: a first token, then the others at one rate."""

    first_token_s: float = 0.0
    tokens_per_s: float = float("inf")
    sleeps: bool = False
    """Whether the time is really spent; without it, it is only told."""

    def __post_init__(self) -> None:
        if not (self.first_token_s >= 0 and self.tokens_per_s > 0):
            raise ValueError(
                "a model needs first_token_s >= 0 and tokens_per_s > 0; "
                f"got {self.first_token_s} and {self.tokens_per_s}"
            )

    def latency_s(self, completion_tokens: int) -> float:
        """Of an answer with so many tokens.

        >>> Pace(first_token_s=0.5, tokens_per_s=50.0).latency_s(100)
        2.5
        """
        return self.first_token_s + completion_tokens / self.tokens_per_s

    def spend(self, name: str, latency_s: float, limits: Limits) -> None:
        """Let an answer take its time.

        Raises:
            ModelUnavailable: it takes longer than the limits allow.
        """
        is_late = latency_s > limits.timeout_s
        if self.sleeps:
            time.sleep(min(latency_s, limits.timeout_s))
        if is_late:
            late = ModelUnavailable(
                f"{name} needs {latency_s:.3g} s for this answer, of which Limits.timeout_s "
                f"allows {limits.timeout_s:.3g}. Give it more time, or ask a faster model."
            )
            late.latency_s = limits.timeout_s
            raise late


def words(text: str) -> Iterator[str]:
    """The pieces in which a text is streamed: each word with the space before it.

    >>> list(words("one two"))
    ['one', ' two']
    """
    start = 0
    while start < len(text):
        end = text.find(" ", start + 1)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end
