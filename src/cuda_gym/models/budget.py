"""A model that stops when its budget is spent.

Covered: dollars and tokens, also where calls are made side by side: what calls under way may still cost counts as
spent until they end, so that a budget is passed by no more than the estimate of a prompt is wrong. Seconds are
those of all calls added up; calls side by side each see what the ended ones left.
Not covered: what a server charges for a call that failed, beyond what its error tells or, where that tells nothing, the
pieces of it that arrived.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cuda_gym.errors import BudgetExceeded, ModelError
from cuda_gym.models.estimates import check_limits, estimated_prompt_tokens, estimated_tokens
from cuda_gym.models.model import (
    DEFAULT_LIMITS,
    Completion,
    Limits,
    Message,
    Model,
    Prices,
    Usage,
)

__all__ = ["Budgeted", "Spent"]

_NOTHING = Usage(prompt_tokens=0, completion_tokens=0)
_ROUNDING_USD = 1e-12
_FREE = Prices(input_usd_per_million=0.0, output_usd_per_million=0.0)


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What calls took."""

    usd: float = 0.0
    usage: Usage = _NOTHING
    seconds: float = 0.0
    calls: int = 0
    """Failed ones included, refused ones not."""

    @property
    def tokens(self) -> int:
        """Of prompts and completions."""
        return self.usage.prompt_tokens + self.usage.completion_tokens

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            usd=self.usd + other.usd,
            usage=self.usage + other.usage,
            seconds=self.seconds + other.seconds,
            calls=self.calls + other.calls,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Call:
    """One that is under way."""

    limits: Limits
    prompt_tokens: int
    most_usd: float
    """Of what it may still cost."""
    most_tokens: int
    began: float = field(default_factory=time.monotonic)


class Budgeted:
    """A model within a budget. Safe to use from several threads.

    A call is refused before it is made where the least that it can take, its prompt and one token, is
    more than what is left; one that is made is limited to what is left.

    Args:
        model: Whose calls are counted.
        usd: Dollars for all calls together; None for no limit.
        tokens: Of prompts and completions together.
        seconds: Of the latencies of all calls.
        prices: The model's; without them, those that it tells itself.
    """

    def __init__(
        self,
        model: Model,
        *,
        usd: float | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        prices: Prices | None = None,
    ) -> None:
        known = getattr(model, "prices", None) if prices is None else prices
        if usd is not None and not isinstance(known, Prices):
            raise ValueError(
                f"{model.name!r} tells no prices, so its dollars cannot be counted: give prices=."
            )
        for unit, budget in (("usd", usd), ("tokens", tokens), ("seconds", seconds)):
            if budget is not None and not budget >= 0:
                raise ValueError(f"a budget is 0 or more; got {unit}={budget}")
        self._model = model
        self._usd, self._tokens, self._seconds = usd, tokens, seconds
        self._prices = known if isinstance(known, Prices) else _FREE
        self._lock = threading.Lock()
        self._spent = Spent()
        self._under_way: set[_Call] = set()

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    @property
    def prices(self) -> Prices:
        """The model's."""
        return self._prices

    @property
    def spent(self) -> Spent:
        """By the calls that ended."""
        with self._lock:
            return self._spent

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """The next turn, if the budget has room for it.

        Raises:
            BudgetExceeded: it has none, and no call was made.
            ModelError: there is no next turn; its seconds count, and the usage that it tells.
        """
        call = self._begin(estimated_prompt_tokens(messages, tools), limits)
        completion: Completion | None = None
        try:
            completion = self._model.complete(messages, limits=call.limits, tools=tools)
        except ModelError as error:
            self._end(call, None, told=error.usage)
            raise
        finally:
            self._end(call, completion)
        return completion

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """The next turn in pieces, if the budget has room for it; what arrived counts, however it ends."""
        call = self._begin(estimated_prompt_tokens(messages), limits)
        arrived: list[str] = []
        try:
            for piece in self._model.stream(messages, limits=call.limits):
                if isinstance(piece, str):
                    arrived.append(piece)
                else:
                    self._end(call, piece)
                yield piece
        except ModelError as error:
            self._end(call, None, "".join(arrived), told=error.usage)
            raise
        finally:
            self._end(call, None, "".join(arrived))

    def _begin(self, prompt_tokens: int, limits: Limits) -> _Call:
        check_limits(self.name, limits)
        with self._lock:
            max_tokens = min(
                limits.max_tokens,
                self._tokens_left(prompt_tokens),
                self._tokens_that_dollars_buy(prompt_tokens),
            )
            timeout_s = min(limits.timeout_s, self._seconds_left())
            most = Usage(prompt_tokens=prompt_tokens, completion_tokens=max_tokens)
            call = _Call(
                limits=replace(limits, max_tokens=max_tokens, timeout_s=timeout_s),
                prompt_tokens=prompt_tokens,
                most_usd=self._prices.cost_usd(most),
                most_tokens=prompt_tokens + max_tokens,
            )
            self._under_way.add(call)
        return call

    def _tokens_left(self, prompt_tokens: int) -> int:
        """For a completion."""
        if self._tokens is None:
            return sys.maxsize
        under_way = sum(call.most_tokens for call in self._under_way)
        left = self._tokens - self._spent.tokens - under_way
        if prompt_tokens + 1 > left:
            raise self._exceeded(
                f"{max(left, 0):,} of {self._tokens:,} tokens", f"{prompt_tokens + 1:,}", "tokens"
            )
        return left - prompt_tokens

    def _tokens_that_dollars_buy(self, prompt_tokens: int) -> int:
        """For a completion."""
        if self._usd is None:
            return sys.maxsize
        under_way = math.fsum(call.most_usd for call in self._under_way)
        left = self._usd - self._spent.usd - under_way
        least = self._prices.cost_usd(Usage(prompt_tokens=prompt_tokens, completion_tokens=1))
        if least > left + _ROUNDING_USD:
            raise self._exceeded(
                f"{max(left, 0.0):.6g} of {self._usd:.6g} dollars", f"{least:.6g}", "usd"
            )
        prompt = self._prices.cost_usd(Usage(prompt_tokens=prompt_tokens, completion_tokens=0))
        per_token = self._prices.output_usd_per_million / 1e6
        return (
            max(1, int((left + _ROUNDING_USD - prompt) / per_token))
            if per_token > 0
            else sys.maxsize
        )

    def _seconds_left(self) -> float:
        if self._seconds is None:
            return math.inf
        left = self._seconds - self._spent.seconds
        if left <= 0:
            raise self._exceeded(f"0 of {self._seconds:g} seconds", "more", "seconds")
        return left

    def _exceeded(self, left: str, least: str, unit: str) -> BudgetExceeded:
        number = len(self._under_way)
        held = f", less what {number} call{'s' if number > 1 else ''} under way may take"
        return BudgetExceeded(
            f"{self.name!r} has {left} left{held if number else ''}; this call takes "
            f"{least} at the least. Raise the budget {unit}=, or send a shorter prompt."
        )

    def _end(
        self,
        call: _Call,
        completion: Completion | None,
        arrived: str = "",
        *,
        told: Usage | None = None,
    ) -> None:
        """What it took counts, and what was set aside for it is free; once."""
        took = Spent(calls=1, seconds=time.monotonic() - call.began)
        if completion is not None:
            took = Spent(
                calls=1,
                usd=completion.cost_usd,
                usage=completion.usage,
                seconds=completion.latency_s,
            )
        elif told is not None or arrived:
            usage = told or Usage(
                prompt_tokens=call.prompt_tokens, completion_tokens=estimated_tokens(arrived)
            )
            took = replace(took, usage=usage, usd=self._prices.cost_usd(usage))
        with self._lock:
            if call in self._under_way:
                self._under_way.remove(call)
                self._spent += took
