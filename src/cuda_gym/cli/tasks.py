"""`cuda-gym tasks`: which tasks there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from cuda_gym.cli.exit_codes import ExitCode
from cuda_gym.core.plain import as_plain

if TYPE_CHECKING:
    from rich.table import Table

    from cuda_gym.cli.screen import Screen
    from cuda_gym.core.device import Device
    from cuda_gym.core.task import Band, Roofline, Task

__all__ = ["ListTasks"]


@dataclass(frozen=True, kw_only=True)
class ListTasks:
    """List the tasks of a suite, or of all suites that are here, and what in it is no task.

    Exit codes:
    - 0 listed
    - 2 there is no device of that name
    - 4 there is no such suite
    """

    suite: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="SUITE")] = None
    """`core`, `kernelbench/level1`, a folder with task files, ...; left out, all that are here."""
    device: str = "auto"
    """Whose sizes the tasks have: `cpu`, `cuda`, ...; it need not be there."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, screen: Screen) -> ExitCode:
        """Print them."""
        from cuda_gym.cli.devices import device_of
        from cuda_gym.tasks.registry import list_suites, load_suite

        device = device_of(self.device)
        names = list_suites() if self.suite is None else (self.suite,)
        suites = [load_suite(name) for name in names]
        tasks = [task for suite in suites for task in suite.tasks]
        broken = [file for suite in suites for file in suite.broken]
        if tasks:
            screen.show_table(_table(tasks))
        for file in broken:
            screen.note(f"broken: {file.id}: {file.why}")
        screen.note(
            f"{len(tasks)} tasks in {', '.join(repr(suite.name) for suite in suites)}. A file in "
            "KernelBench's format is a task too: --task path/to/file.py"
        )
        plain = [_plain(task, device) for task in tasks]
        screen.give({"tasks": plain, "broken": as_plain(broken), "device": str(device)})
        return ExitCode.OK


def _table(tasks: Sequence[Task]) -> Table:
    from rich.table import Table

    table = Table("task", "title", "family", "band", "bound by", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    table.columns[0].style = "cyan"
    for task in tasks:
        table.add_row(
            task.id, task.title, task.family, _value(task.band) or "-", _value(task.roofline) or "-"
        )
    return table


def _value(kind: Band | Roofline | None) -> str | None:
    return None if kind is None else kind.value


def _plain(task: Task, device: Device) -> dict[str, Any]:
    """All but the source; the hash is that of the task with its sizes on the device."""
    from cuda_gym.tasks.sizes import sized_for

    return {
        "id": task.id,
        "title": task.title,
        "family": task.family,
        "band": _value(task.band),
        "roofline": _value(task.roofline),
        "library": list(task.library),
        "allow_tf32": task.allow_tf32,
        "sizes": task.sizes_on(device),
        "hash": sized_for(task, device).hash,
    }
