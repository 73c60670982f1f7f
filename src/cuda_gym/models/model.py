"""A language model as everything here uses it: messages in; text, tokens, seconds and cost out.

Covered: what a call costs, at prices that its caller knows; a limit on its tokens and seconds; tool calls.
Not covered: which messages to send, and what to do with the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = [
    "DEFAULT_LIMITS",
    "Completion",
    "Estimated",
    "Limits",
    "Message",
    "Model",
    "Prices",
    "Role",
    "ToolCall",
    "Usage",
]

Role = Literal["system", "user", "assistant", "tool"]
Estimated = Literal["usage", "latency_s"]


_CUT = frozenset({"length", "max_tokens", "model_length"})
"""OpenAI's word, and those of servers that keep their own."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A tool that the model wants to have called."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it: it may be none."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant."""
    tool_call_id: str | None = None
    """Of a tool's answer."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the server counts them."""

    prompt_tokens: int
    completion_tokens: int

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, kw_only=True)
class Prices:
    """US dollars for a million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float

    def cost_usd(self, usage: Usage) -> float:
        """What so many tokens cost.

        >>> Prices(input_usd_per_million=1.0, output_usd_per_million=4.0).cost_usd(
        ...     Usage(prompt_tokens=1_000_000, completion_tokens=500_000))
        3.0
        """
        return (
            usage.prompt_tokens * self.input_usd_per_million
            + usage.completion_tokens * self.output_usd_per_million
        ) / 1e6


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How far one call may go."""

    max_tokens: int = 4096
    """Of the completion."""
    timeout_s: float = 120.0
    """Of the whole call, repetitions included."""
    temperature: float | None = None
    """None leaves it to the server."""

    def within(self, outer: Limits) -> Limits:
        """These, as far as others allow; the temperature is the others' where these leave it open.

        >>> Limits(max_tokens=9000).within(Limits(timeout_s=5.0, temperature=0.5))
        Limits(max_tokens=4096, timeout_s=5.0, temperature=0.5)
        """
        return Limits(
            max_tokens=min(self.max_tokens, outer.max_tokens),
            timeout_s=min(self.timeout_s, outer.timeout_s),
            temperature=outer.temperature if self.temperature is None else self.temperature,
        )


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What a call gave."""

    model: str
    """Its name in a roster, not the server's."""
    text: str
    usage: Usage
    latency_s: float
    cost_usd: float
    finish_reason: str = "stop"
    """`stop`, `length`, `tool_calls`, or what the server says."""
    tool_calls: tuple[ToolCall, ...] = ()
    estimated: tuple[Estimated, ...] = ()
    """Which of its figures nobody counted or measured; the cost is as good as the usage."""

    @property
    def is_cut(self) -> bool:
        """Whether the limit of its tokens ended it: then what it says may lack its end."""
        return self.finish_reason in _CUT


class Model(Protocol):
    """Something that completes a conversation. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Unique among those that are used together."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """The next turn.

        Args:
            messages: The conversation so far.
            limits: Of this call.
            tools: Descriptions in OpenAI's format.

        Raises:
            ModelError: there is none; a subclass says why.
        """
        ...

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """Pieces of text as they come, then the completion as `complete` would have given it.

        Raises:
            ModelError: as `complete`, also in the middle.
        """
        ...
