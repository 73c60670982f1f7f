"""KernelBench as a suite: `kernelbench/level1/19`, read from a local checkout.

The checkout is the folder that the environment variable CUDA_GYM_KERNELBENCH names, otherwise
`~/KernelBench`. Not covered: downloading it, and whether a task of it fits a device.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from cuda_gym.core.task import Task
from cuda_gym.errors import UnknownTask, did_you_mean
from cuda_gym.tasks.files import task_from_file
from cuda_gym.tasks.suite import Suite, read_suite

__all__ = ["VARIABLE", "kernelbench_suite", "kernelbench_suites", "kernelbench_task"]

VARIABLE = "CUDA_GYM_KERNELBENCH"
"""The environment variable that names the checkout."""

_LEVEL = re.compile(r"level\d+")
_FILE = re.compile(r"(\d+)_.*\.py")
_REMEDY = (
    f"Get one with `git clone https://github.com/ScalingIntelligence/KernelBench ~/KernelBench`, "
    f"or let {VARIABLE} name the folder."
)


def kernelbench_suites() -> tuple[str, ...]:
    """The levels of the checkout as `kernelbench/level1`, ...; empty where there is none."""
    folder = _find_folder()
    return () if folder is None else tuple(f"kernelbench/{level}" for level in _levels(folder))


def kernelbench_task(id: str) -> Task:
    """The task of an id such as `kernelbench/level1/19`.

    Raises:
        UnknownTask: there is no checkout, or no such task in it.
        BadTask: the file is no task.
    """
    paths = dict(_paths(_folder()))
    if id not in paths:
        raise UnknownTask(
            f"There is no task {id[:200]!r}.{did_you_mean(id, paths, however_far=True)} "
            "`cuda-gym tasks` lists all of them."
        )
    return task_from_file(paths[id], id=id)


def kernelbench_suite(suite: str = "kernelbench") -> Suite:
    """All tasks of `kernelbench`, or of one level as `kernelbench/level1`, by number.

    Raises:
        UnknownTask: there is no checkout, or no such level in it.
    """
    folder = _folder()
    if suite != "kernelbench" and suite not in kernelbench_suites():
        raise UnknownTask(
            f"There is no suite {suite[:200]!r}. {str(folder)!r} has "
            f"{', '.join(kernelbench_suites())}."
        )
    paths = [(id, path) for id, path in _paths(folder) if id.startswith(f"{suite}/")]
    return read_suite(suite, ((id, partial(task_from_file, path, id=id)) for id, path in paths))


def _find_folder() -> Path | None:
    """The folder with `level1`, ...: the checkout itself, or KernelBench/ in it."""
    named = os.environ.get(VARIABLE)
    checkout = Path(named) if named else Path("~/KernelBench").expanduser()
    candidates = (checkout / "KernelBench", checkout)
    return next((folder for folder in candidates if _levels(folder)), None)


def _folder() -> Path:
    folder = _find_folder()
    if folder is None:
        named = os.environ.get(VARIABLE)
        where = f"{VARIABLE} names {named!r}, which is none" if named else "~/KernelBench is none"
        raise UnknownTask(f"There is no checkout of KernelBench: {where}. {_REMEDY}")
    return folder


def _levels(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    names = (entry.name for entry in folder.iterdir() if entry.is_dir())
    return sorted(name for name in names if _LEVEL.fullmatch(name))


def _paths(folder: Path) -> Iterator[tuple[str, Path]]:
    """Ids and files, by level and number."""
    for level in _levels(folder):
        matches = [(_FILE.fullmatch(path.name), path) for path in (folder / level).iterdir()]
        numbered = [(int(match[1]), path) for match, path in matches if match is not None]
        for number, path in sorted(numbered):
            yield f"kernelbench/{level}/{number}", path
