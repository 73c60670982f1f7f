"""A model whose calls end when nobody waits for them any more.

Covered: no further call is made, whoever made one is free at once, and a call of an endpoint ends with its
connection; it counts with its prompt and what had arrived, both estimated. Not covered: what an endpoint charges beyond
that; a model that is no endpoint and is slow: its call goes on in its own thread, which keeps no program from ending,
to its next piece or its end.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

from cuda_gym.agents.route_moa.feed import Feed, NothingYet
from cuda_gym.errors import ModelUnavailable
from cuda_gym.models.estimates import estimated_prompt_tokens, estimated_tokens
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Model, Usage

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

        (completion,) = self._watched(call, estimated_prompt_tokens(messages, tools))
        assert isinstance(completion, Completion)
        return completion

    def stream(
        self, messages: Sequence[Message], *, limits: Limits = DEFAULT_LIMITS
    ) -> Iterator[str | Completion]:
        """As the model's.

        Raises:
            ModelUnavailable: it was stopped.
        """
        return self._watched(
            lambda: self._model.stream(messages, limits=limits), estimated_prompt_tokens(messages)
        )

    def _watched(
        self, call: Callable[[], Iterator[str | Completion]], prompt_tokens: int
    ) -> Iterator[str | Completion]:
        """What a call gives, made in a thread of its own, until it is stopped or nobody reads on."""
        if self._stop.is_set():
            raise self._stopped()
        feed = Feed(call, name=f"call of {self.name}")
        heard: list[str] = []
        try:
            while not (self._stop.is_set() or feed.is_over):
                with contextlib.suppress(NothingYet):
                    item = feed.next(_POLL_S)
                    if item is None:
                        return
                    heard += [item] if isinstance(item, str) else []
                    yield item
        finally:
            feed.end()
        stopped = self._stopped()
        stopped.usage = Usage(
            prompt_tokens=prompt_tokens, completion_tokens=estimated_tokens("".join(heard))
        )
        stopped.may_have_used_more = True
        raise stopped

    def _stopped(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self.name} is not called any more: nobody waits for the answer.")
