"""An answer in the making: its pieces, from a thread that can be told to stop.

Covered: pieces, the answer, errors that are ours; what was spent on an answer that nobody waited for. Not covered: a
mixture that does not heed the stop; its thread goes on, and holds its place among the requests that are worked on, until it
is done.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol, final

from cuda_gym.agents.route_moa.answers import Answer
from cuda_gym.agents.route_moa.bill import Bill
from cuda_gym.agents.route_moa.serving.reply import bill_of
from cuda_gym.agents.route_moa.serving.request import ChatRequest
from cuda_gym.errors import CudaGymError

__all__ = ["Answering", "OpenMixture", "Work"]


class Answering(Protocol):
    """What of a mixture is served."""

    def answer(self, query: str) -> Answer:
        """The answer, once it is complete."""
        ...

    def stream(self, query: str) -> Iterator[str | Answer]:
        """The answer's text in pieces, then all of it."""
        ...


OpenMixture = Callable[[ChatRequest, threading.Event], Answering]
"""Makes the mixture for one request. The event is set when nobody waits for the answer any more."""


@final
class Work:
    """One request that is worked on.

    Args:
        open_mixture: Makes what answers.
        request: What is asked.
        on_end: Called when the thread has nothing more to do.
    """

    def __init__(
        self, open_mixture: OpenMixture, request: ChatRequest, *, on_end: Callable[[], None]
    ) -> None:
        self._open_mixture = open_mixture
        self._request = request
        self._on_end = on_end
        self._stop = threading.Event()
        self._items: queue.SimpleQueue[str | Answer | CudaGymError | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="an answer", daemon=True)
        self._thread.start()

    def items(self, *, every_s: float, meanwhile: Callable[[], None]) -> Iterator[str | Answer]:
        """Pieces, if asked for, and then the answer.

        Args:
            every_s: How often to look up from waiting.
            meanwhile: What to do then; it may raise.

        Raises:
            CudaGymError: there is no answer.
        """
        while True:
            try:
                item = self._items.get(timeout=every_s)
            except queue.Empty:
                meanwhile()
                continue
            if item is None:
                self._items.put(None)  # for `left`
                return
            if isinstance(item, CudaGymError):
                raise item
            yield item

    def stop(self) -> None:
        """Nobody waits for it any more."""
        self._stop.set()

    def left(self, patience_s: float) -> Bill | None:
        """Stop it; what was spent on it, or None where within so long that is not known."""
        self.stop()
        end = time.monotonic() + patience_s
        bill: Bill | None = None
        with contextlib.suppress(queue.Empty):
            while (item := self._items.get(timeout=max(0.0, end - time.monotonic()))) is not None:
                bill = bill_of(item) or bill
        return bill

    def has_ended(self, patience_s: float) -> bool:
        """Whether within so long its thread is gone."""
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            mixture = self._open_mixture(self._request, self._stop)
            if self._request.is_stream:
                for item in mixture.stream(self._request.prompt):
                    self._items.put(item)
            else:
                self._items.put(mixture.answer(self._request.prompt))
        except CudaGymError as error:
            self._items.put(error)
        finally:
            self._items.put(None)
            self._on_end()
