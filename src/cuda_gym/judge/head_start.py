"""What can be done while the compiler runs: a candidate process, and the hidden draws.

On a GPU the context of a process alone takes about half as long as nvcc does.

Covered: to begin raises nothing and waits for nothing; what could not be begun is made when it is needed.
Not covered: a reference that has not opened its task, or that somebody else is using.
"""

from __future__ import annotations

import contextlib
import random
from concurrent.futures import CancelledError, Future

from cuda_gym.core.task import Task
from cuda_gym.errors import MachineError, TaskError, WorkerLost
from cuda_gym.judge.means import Means
from cuda_gym.judge.sandbox.background import begun
from cuda_gym.judge.sandbox.draw_plan import plan_draws, plan_hidden, surely_used
from cuda_gym.judge.sandbox.open_reference import OpenReference
from cuda_gym.judge.sandbox.workers import CandidateWorker

__all__ = ["HeadStart"]


class HeadStart:
    """Begun as soon as it is made.

    Args:
        task: Whose draws are made.
        means: What the judge has.
        seed: Of the draws.
    """

    def __init__(self, task: Task, means: Means, seed: int) -> None:
        self._means = means
        self._candidate: Future[CandidateWorker] | None = None
        if means.pool.can_fork_at_once:
            self._candidate = begun(means.ahead, self._fork)
        reference = means.pool.idle_reference(task)
        if reference is not None:
            prepared = begun(means.ahead, self._prepare, reference, seed)
            if prepared is None:
                reference.lock.release()
            else:  # however it ends, and where it is never begun, for the judge was closed
                prepared.add_done_callback(lambda _: reference.lock.release())

    def candidate(self) -> CandidateWorker:
        """A candidate process that nobody has used; the caller closes it, and does not hold the device's lock.

        Raises:
            WorkerLost: none could be started.
        """
        started, self._candidate = self._candidate, None
        try:
            return self._fork() if started is None else started.result()
        except CancelledError:
            raise WorkerLost("The judge was closed.") from None

    def abandon(self) -> None:
        """Close what was begun, as soon as it is there; safe to call twice."""
        started, self._candidate = self._candidate, None
        if started is not None:
            started.add_done_callback(_close)

    def _fork(self) -> CandidateWorker:
        with self._means.openings.one(), self._means.host_work():
            candidate = self._means.pool.fork()
            candidate.wait_until_open()
        return candidate

    def _prepare(self, reference: OpenReference, seed: int) -> None:
        with contextlib.suppress(TaskError, MachineError), self._means.lock.shared():
            generator = random.Random(seed)
            draws = plan_draws(reference.opened, generator)
            hidden = plan_hidden(reference.opened, generator, weights=draws[-1].weights)
            reference.prepare((*draws, *surely_used(hidden)))


def _close(started: Future[CandidateWorker]) -> None:
    if not started.cancelled() and started.exception() is None:
        started.result().close()
