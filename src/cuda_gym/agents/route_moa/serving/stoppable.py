"""A model whose calls end when nobody waits for them any more.

Covered: no further call is made, whoever made one is free at once, and a call of an endpoint ends with its
connection. Not covered: a model that is no endpoint and is slow; its call goes on in its own thread, which keeps
no program from ending, to its next piece or its end.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

from cuda_gym.agents.route_moa.feed import Feed, NothingYet
from cuda_gym.errors import ModelUnavailable
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Model

__all__ = ["Stoppable"]

_POLL_S = 0.05


@final
class Stoppable:
    """Another model until it is stopped; from then on nothing but an error.

    Args:
        model: Which is called.
        stop: Set by whoever waited for the answers, when they wait no longer.
    """

    def __init__(self, model: Model, stop: threading.Event) -> None:
        self._model = model
        self._stop = stop

    @property
    def name(self) -> str:
        """That of the model."""
        return self._model.name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        limits: Limits = DEFAULT_LIMITS,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Completion:
        """As the model's.

        Raises:
            ModelUnavailable: it was stopped.
        """

        def call() -> Iterator[Completion]:
            yield self._model.complete(messages, limits=limits, tools=tools)

        (completion,) = self._watched(call)
        assert isinstance(completion, Completion)
        return completion

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """As the model's.

        Raises:
            ModelUnavailable: it was stopped.
        """
        return self._watched(lambda: self._model.stream(messages, limits=limits))

    def _watched(
        self, call: Callable[[], Iterator[str | Completion]]
    ) -> Iterator[str | Completion]:
        """What a call gives, made in a thread of its own, until it is stopped or nobody reads on."""
        self._check(is_over=False)
        feed = Feed(call, name=f"call of {self.name}")
        try:
            while (item := self._next(feed)) is not None:
                yield item
        finally:
            feed.end()

    def _next(self, feed: Feed) -> str | Completion | None:
        while True:
            self._check(is_over=feed.is_over)
            with contextlib.suppress(NothingYet):
                return feed.next(_POLL_S)

    def _check(self, *, is_over: bool) -> None:
        if self._stop.is_set() or is_over:
            raise ModelUnavailable(
                f"{self.name} is not called any more: nobody waits for the answer."
            )
