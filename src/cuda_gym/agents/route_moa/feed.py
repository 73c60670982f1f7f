"""What a call gives, piece by piece, from a thread of its own: whoever waits for it may stop waiting.

Covered: a call of an endpoint that nobody reads any more ends with its connection, and one of another model at its next
piece; what a call raises is raised where it is read. Not covered: a model that is no endpoint and hangs; its thread, which
keeps no program from ending, lives until it returns.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import final

from cuda_gym.models.deadline import Ending
from cuda_gym.models.model import Completion

__all__ = ["Feed", "NothingYet"]

Items = Iterator[str | Completion]


class NothingYet(Exception):
    """There is no further piece so far."""


@final
class Feed:
    """A call that was begun.

    Args:
        call: Makes it.
        name: Of its thread.
    """

    def __init__(self, call: Callable[[], Items], *, name: str) -> None:
        self._call = call
        self._ending = Ending()
        self._items: queue.SimpleQueue[str | Completion | BaseException | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it was ended, here or by whoever waits for this one's reader."""
        return self._ending.is_over

    def next(self, patience_s: float) -> str | Completion | None:
        """The next piece; None after the last.

        Args:
            patience_s: What is there already is given whatever this says.

        Raises:
            NothingYet: there is none within so long.
            BaseException: what the call raised.
        """
        try:
            item = self._items.get(timeout=max(0.0, patience_s))
        except queue.Empty:
            raise NothingYet from None
        if isinstance(item, BaseException):
            raise item
        return item

    def end(self, patience_s: float = 0.0) -> None:
        """Nobody reads on; wait so long for its thread."""
        self._ending.end()
        self._thread.join(patience_s)

    def _run(self) -> None:
        try:
            if self.is_over:
                return
            with self._ending, contextlib.closing(_closable(self._call())) as pieces:
                for item in pieces:
                    self._items.put(item)
                    if self.is_over:
                        break
        except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
            self._items.put(error)
        finally:
            self._items.put(None)


def _closable(items: Items) -> Generator[str | Completion]:
    """Whatever yields them, they come from a generator: what that holds is let go of with it."""
    yield from items
