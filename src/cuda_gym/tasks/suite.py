"""A suite: tasks that belong together, and the files among them that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cuda_gym.core.task import Task
from cuda_gym.errors import BadTask

__all__ = ["BrokenTask", "Suite", "read_suite"]


@dataclass(frozen=True, kw_only=True)
class BrokenTask:
    """A file of a suite that is no task. The rest of the suite is served all the same."""

    id: str
    """The id that the task would have."""
    why: str
    """Fact, place and remedy."""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Tasks that are played, or measured, together."""

    name: str
    tasks: tuple[Task, ...]
    """In the order in which they are listed."""
    broken: tuple[BrokenTask, ...] = ()
    """What was left out."""


def read_suite(name: str, files: Iterable[tuple[str, Callable[[], Task]]]) -> Suite:
    """A suite of what can be read.

    Args:
        name: What the suite is called.
        files: An id each, and what reads its task.
    """
    tasks, broken = [], []
    for id, read in files:
        try:
            tasks.append(read())
        except BadTask as error:
            broken.append(BrokenTask(id=id, why=str(error)))
    return Suite(name=name, tasks=tuple(tasks), broken=tuple(broken))
