"""Work in the background that never keeps a process from ending.

The threads of `concurrent.futures` are waited for when Python ends. One that is started while Ctrl-C arrives
may be known to nobody who could wake it (seen: a judge that was interrupted hung for ever). These are
daemons: whoever closes a judge ends what they wait for, and nobody waits for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

__all__ = ["Background", "begun"]

Done = TypeVar("Done")


class Background(Executor):
    """Runs each piece of work in a daemon thread of its own.

    Args:
        name: Of its threads.
        most_at_once: How many run at the same time; None for any number.
    """

    def __init__(self, name: str, *, most_at_once: int | None = None) -> None:
        self._name = name
        self._turns = None if most_at_once is None else threading.Semaphore(most_at_once)
        self._is_closed = False

    def submit(self, work: Callable[..., Done], /, *arguments: Any, **named: Any) -> Future[Done]:
        """Begin a piece of work.

        Raises:
            RuntimeError: it was shut down.
        """
        if self._is_closed:
            raise RuntimeError(f"No more work is taken: {self._name}")
        future: Future[Done] = Future()
        run = threading.Thread(
            target=self._run, args=(future, work, arguments, named), name=self._name, daemon=True
        )
        run.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Take no more work, and begin none that waits for its turn; what runs is not waited for."""
        self._is_closed = True

    def _run(
        self,
        future: Future[Done],
        work: Callable[..., Done],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        if self._turns is not None:
            self._turns.acquire()
        try:
            if self._is_closed:
                future.cancel()
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(*arguments, **named))
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
                future.set_exception(error)
        finally:
            if self._turns is not None:
                self._turns.release()


def begun(
    ahead: Executor, work: Callable[..., Done], *arguments: Any, **named: Any
) -> Future[Done] | None:
    """Something that is done in the background; None where no more work is taken."""
    try:
        return ahead.submit(work, *arguments, **named)
    except RuntimeError:
        return None
