"""A model whose calls end when nobody waits for them any more.

Covered: no further call is made, whoever made one is free at once, and a call of an endpoint ends with its
connection. Not covered: a model that is no endpoint and is slow; its call goes on in its own thread, which keeps
no program from ending, to its next piece or its end.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, final

from cuda_gym.errors import ModelUnavailable
from cuda_gym.models.deadline import Ending
from cuda_gym.models.model import DEFAULT_LIMITS, Completion, Limits, Message, Model

__all__ = ["Stoppable"]

_POLL_S = 0.05

_Item = str | Completion | BaseException | None


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
        ending = Ending()
        self._check(ending)
        items: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        arguments = (call, items, ending)
        name = f"call of {self.name}"
        threading.Thread(target=_feed, args=arguments, name=name, daemon=True).start()
        try:
            while (item := self._next(items, ending)) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            ending.end()

    def _next(self, items: queue.SimpleQueue[_Item], ending: Ending) -> _Item:
        while True:
            self._check(ending)
            try:
                return items.get(timeout=_POLL_S)
            except queue.Empty:
                continue

    def _check(self, ending: Ending) -> None:
        if self._stop.is_set() or ending.is_over:
            raise ModelUnavailable(
                f"{self.name} is not called any more: nobody waits for the answer."
            )


def _feed(
    call: Callable[[], Iterator[str | Completion]], items: queue.SimpleQueue[_Item], ending: Ending
) -> None:
    try:
        with ending, contextlib.closing(_closable(call())) as pieces:
            for item in pieces:
                items.put(item)
                if ending.is_over:
                    break
    except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
        items.put(error)
    finally:
        items.put(None)


def _closable(items: Iterator[str | Completion]) -> Generator[str | Completion]:
    """Whatever yields them, they come from a generator: what that holds is let go of with it."""
    yield from items
