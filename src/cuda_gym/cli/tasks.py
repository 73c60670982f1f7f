"""`cuda-gym tasks`: which tasks there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from cuda_gym.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from cuda_gym.cli.screen import Screen
    from cuda_gym.core import Task

__all__ = ["ListTasks"]


@dataclass(frozen=True, kw_only=True)
class ListTasks:
    """List the tasks of a suite, or of all suites that are here.

    Exit codes:

    - 0 listed
    - 4 there is no such suite, or a file of it is no task
    """

    suite: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="SUITE")] = None
    """`core`, `kernelbench`, `kernelbench/level1`, ...; left out, all that are here."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, screen: Screen) -> ExitCode:
        """Print them."""
        from rich.table import Table

        from cuda_gym.tasks.registry import list_suites, list_tasks

        tasks = list_tasks(self.suite)
        table = Table("task", "title", "family", "band", box=None, pad_edge=False)
        for column in table.columns[1:]:
            column.overflow = "fold"
        table.columns[0].no_wrap = True
        table.columns[0].style = "cyan"
        for task in tasks:
            table.add_row(task.id, task.title, task.family, _band(task) or "-")
        screen.show(table)
        screen.note(
            f"{len(tasks)} tasks in {', '.join(list_suites())}. A file in KernelBench's format is a "
            "task too: --task path/to/file.py"
        )
        screen.give({"tasks": [_plain(task) for task in tasks]})
        return ExitCode.OK


def _band(task: Task) -> str | None:
    return None if task.band is None else task.band.value


def _plain(task: Task) -> dict[str, Any]:
    """All but the source."""
    return {
        "id": task.id,
        "title": task.title,
        "family": task.family,
        "band": _band(task),
        "library": list(task.library),
        "allow_tf32": task.allow_tf32,
        "hash": task.hash,
    }
