"""All tasks by id: `core/softmax`, `kernelbench/level1/19`, or the path of a file.

All suites by name: `core`, `kernelbench/level1`, or the path of a folder with such files.
"""

from __future__ import annotations

import os
from functools import cache, partial
from importlib import resources
from pathlib import Path

from cuda_gym.core.task import Task
from cuda_gym.errors import BadTask, UnknownTask, did_you_mean
from cuda_gym.tasks.files import task_from_file, task_from_source
from cuda_gym.tasks.kernelbench import kernelbench_suite, kernelbench_suites, kernelbench_task
from cuda_gym.tasks.suite import Suite, read_suite

__all__ = ["list_suites", "list_tasks", "load_suite", "load_task"]


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
    core = {task.id: task for task in _core().tasks}
    if id_or_path in core:
        return core[id_or_path]
    if id_or_path.startswith("kernelbench/"):
        return kernelbench_task(id_or_path)
    if os.path.isfile(id_or_path):  # noqa: PTH113 (a Path raises where a name is too long)
        raise UnknownTask(
            f"There is no task {id_or_path!r}, but a file of that name. "
            "A file is a task where its name ends in .py."
        )
    if id_or_path in list_suites() or os.path.isdir(id_or_path):  # noqa: PTH112 (as above)
        raise UnknownTask(
            f"There is no task {id_or_path!r}, but a suite of that name. "
            f"`cuda-gym tasks {id_or_path}` lists its tasks."
        )
    hint = did_you_mean(id_or_path, core, however_far=True)
    raise UnknownTask(
        f"There is no task {id_or_path[:200]!r}.{hint} `cuda-gym tasks` lists all of them."
    )


def list_suites() -> tuple[str, ...]:
    """The suites that are here: `core`, and the levels of KernelBench where a checkout is."""
    return ("core", *kernelbench_suites())


def list_tasks(suite: str | None = None) -> tuple[Task, ...]:
    """All tasks of a suite, or of all suites that are here, without files that are no task.

    Args:
        suite: As for `load_suite`.

    Raises:
        UnknownTask: there is no such suite; the message has the nearest names.
        BadTask: no file of the suite is a task.
    """
    if suite is None:
        return tuple(task for name in list_suites() for task in load_suite(name).tasks)
    found = load_suite(suite)
    if not found.tasks:
        why = f": {found.broken[0].why}" if found.broken else ""
        raise BadTask(f"The suite {suite!r} has no task in {len(found.broken)} files{why}")
    return found.tasks


def load_suite(name: str) -> Suite:
    """A suite: its tasks, and what in it is broken.

    Args:
        name: A name of `list_suites()`, `kernelbench` for all its levels, or the path of a folder.

    Raises:
        UnknownTask: there is no such suite; the message has the nearest names.
    """
    if name == "core":
        return _core()
    if name.partition("/")[0] == "kernelbench":
        return kernelbench_suite(name)
    if os.path.isdir(name):  # noqa: PTH112 (a Path raises where a name is too long)
        paths = sorted(Path(name).glob("*.py"))
        return read_suite(name, ((str(path), partial(task_from_file, path)) for path in paths))
    suites = list_suites()
    raise UnknownTask(
        f"There is no suite {name[:200]!r}.{did_you_mean(name, suites, however_far=True)} "
        "The path of a folder with task files is one too."
    )


@cache
def _core() -> Suite:
    """The `core` suite, in the order of the names."""
    folder = resources.files("cuda_gym.tasks.builtin")
    names = sorted(
        entry.name.removesuffix(".py")
        for entry in folder.iterdir()
        if entry.name.endswith(".py") and not entry.name.startswith("_")
    )

    def read(name: str) -> Task:
        text = (folder / f"{name}.py").read_text("utf-8")
        return task_from_source(text, id=f"core/{name}", origin=f"core/{name}", title=name)

    return read_suite("core", ((f"core/{name}", partial(read, name)) for name in names))
