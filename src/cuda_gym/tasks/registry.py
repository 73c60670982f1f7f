"""All tasks by id: `core/softmax`, `kernelbench/level1/19`, or the path of a file."""

from __future__ import annotations

import os
from functools import cache
from importlib import resources

from cuda_gym.core import Task
from cuda_gym.errors import UnknownTask
from cuda_gym.tasks.files import did_you_mean, task_from_file, task_from_source
from cuda_gym.tasks.kernelbench import kernelbench_suites, kernelbench_task, kernelbench_tasks

__all__ = ["list_suites", "list_tasks", "load_task"]


def load_task(id_or_path: str) -> Task:
    """The task of an id, or in a file.

    Args:
        id_or_path: `suite/name`, or a path that ends in `.py`.

    Raises:
        UnknownTask: there is no such task or file; the message has the nearest names.
        BadTask: the file is no task; the message has line and remedy.

    >>> load_task("core/softmax").title
    'Softmax over rows'
    """
    if id_or_path.endswith(".py"):
        return task_from_file(id_or_path)
    if id_or_path in _core():
        return _core()[id_or_path]
    if id_or_path.startswith("kernelbench/"):
        return kernelbench_task(id_or_path)
    if os.path.isfile(id_or_path):  # noqa: PTH113 (a Path raises where a name is too long)
        raise UnknownTask(
            f"There is no task {id_or_path!r}, but a file of that name. "
            "A file is a task where its name ends in .py."
        )
    last = id_or_path.rpartition("/")[2]
    hint = did_you_mean(id_or_path, _core()) or did_you_mean(f"core/{last}", _core())
    raise UnknownTask(
        f"There is no task {id_or_path[:200]!r}.{hint} `cuda-gym tasks` lists all of them."
    )


def list_suites() -> tuple[str, ...]:
    """The suites that are here: `core`, and the levels of KernelBench where a checkout is."""
    return ("core", *kernelbench_suites())


def list_tasks(suite: str | None = None) -> tuple[Task, ...]:
    """All tasks of a suite, or of all that are here.

    Args:
        suite: A name of `list_suites()`, or `kernelbench` for all its levels.

    Raises:
        UnknownTask: there is no such suite; the message has the nearest names.
        BadTask: a file of the suite is no task.
    """
    if suite is None:
        others = kernelbench_tasks() if kernelbench_suites() else ()
        return (*_core().values(), *others)
    if suite == "core":
        return tuple(_core().values())
    if suite.partition("/")[0] == "kernelbench":
        return kernelbench_tasks(suite)
    suites = list_suites()
    raise UnknownTask(
        f"There is no suite {suite[:200]!r}.{did_you_mean(suite, suites)} "
        f"The suites are {', '.join(suites)}."
    )


@cache
def _core() -> dict[str, Task]:
    """The `core` suite by id, in the order of the names."""
    folder = resources.files("cuda_gym.tasks.builtin")
    names = sorted(
        entry.name.removesuffix(".py")
        for entry in folder.iterdir()
        if entry.name.endswith(".py") and not entry.name.startswith("_")
    )
    return {
        f"core/{name}": task_from_source(
            (folder / f"{name}.py").read_text("utf-8"),
            id=f"core/{name}",
            origin=f"core/{name}",
            title=name,
        )
        for name in names
    }
