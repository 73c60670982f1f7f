"""One call in a thread of its own, which ends with the call.

A thread for each call, and no pool of them: one is begun in a ten-thousandth of a second, where a call takes seconds; a model
that hangs holds no place that another query would need; and nothing is left to be closed when an answer is there.

Covered: a call of an endpoint that nobody waits for ends with its connection, also behind a `Stoppable` or within
another mixture; no thread keeps a program from ending.
Not covered: a model that is no endpoint and hangs; its thread lives until it returns.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import final

from cuda_gym.agents.route_moa.ledger import Call
from cuda_gym.models.deadline import Ending
from cuda_gym.models.model import Completion, Limits

__all__ = ["Underway"]


@final
class Underway:
    """A call that was begun.

    Args:
        call: Whom to ask, and what.
        limits: Of this call.
    """

    def __init__(self, call: Call, limits: Limits) -> None:
        self.future = Future[Completion]()
        self._call = call
        self._limits = limits
        self._ending = Ending()
        self._thread = threading.Thread(
            target=self._run, name=f"route_moa asks {call.entry.name}", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Nobody waits for it any more."""
        self._ending.end()

    def join(self, patience_s: float) -> None:
        """Wait until its thread is gone, or so long."""
        self._thread.join(patience_s)

    def _run(self) -> None:
        with self._ending:
            try:
                completion = self._call.model.complete(
                    self._call.prompt.messages, limits=self._limits
                )
            except BaseException as error:  # noqa: BLE001 - it is raised where the answer is waited for
                self.future.set_exception(error)
            else:
                self.future.set_result(completion)
