"""`cuda-gym doctor`: what this machine is, and what works on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuda_gym.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from rich.table import Table

    from cuda_gym.cli.screen import Screen
    from cuda_gym.judge.judge import Judge
    from cuda_gym.judge.sandbox.probes import Check

__all__ = ["Doctor"]

_TASK = "core/row_sum"
"""What is built and run: the smallest one that needs threads to wait for each other."""


@dataclass(frozen=True, kw_only=True)
class Doctor:
    """Try what an episode needs here, and say how to get what is missing.

    Exit codes:

    - 0 an episode can be played
    - 3 it cannot, or not before the remedies in red
    """

    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, screen: Screen) -> ExitCode:
        """Try everything."""
        from cuda_gym.core.plain import as_plain
        from cuda_gym.judge.sandbox.probes import CheckState

        checks = tuple(_checks(screen))
        can_play = all(check.state is CheckState.OK for check in checks if check.is_needed)
        screen.show(_table(checks))
        screen.show("")
        screen.show(
            "[bold green]An episode can be played.[/] Begin with [cyan]cuda-gym demo[/]."
            if can_play
            else "[bold red]No episode can be played yet:[/] follow the remedies in red."
        )
        screen.give({"can_play": can_play, "checks": as_plain(checks)})
        return ExitCode.OK if can_play else ExitCode.MACHINE


def _checks(screen: Screen) -> Iterator[Check]:
    from cuda_gym.cli.machine import machine_checks
    from cuda_gym.judge.judge import open_judge
    from cuda_gym.judge.sandbox.probes import probe_device_lock, probe_pressure, probe_walls

    judge = open_judge("auto")
    with screen.waiting("looking at the machine"):
        yield from machine_checks(judge.device)
    with screen.waiting("putting up walls, and running against them"):
        yield from probe_walls()
    yield probe_pressure()
    yield probe_device_lock(judge.device)
    yield _real_run(judge, screen)


def _real_run(judge: Judge, screen: Screen) -> Check:
    """Build a kernel, and run it on hidden inputs in the sandbox."""
    from cuda_gym.agents.scripted import load_solution
    from cuda_gym.core.findings import Outcome
    from cuda_gym.core.task import Submission
    from cuda_gym.errors import TaskError
    from cuda_gym.judge.sandbox.probes import Check, CheckState
    from cuda_gym.tasks.registry import load_task
    from cuda_gym.tasks.sizes import sized_for

    what = "a real kernel"
    task = sized_for(load_task(_TASK), judge.device)
    submission = Submission.of(load_solution(_TASK))
    try:
        with screen.waiting("building a kernel and running it; PyTorch starts first"):
            findings = judge.verify(task, submission)
        ended, fact = findings.outcome, findings.summary
    except TaskError as error:
        ended, fact = None, str(error)
    if ended is Outcome.CORRECT:
        return Check(what=what, state=CheckState.OK, fact=f"{_TASK}: {fact}", is_needed=True)
    return Check(
        what=what,
        state=CheckState.MISSING,
        fact=f"{_TASK}: {fact}",
        remedy="Follow the remedies above first; then try again on an idle machine.",
        is_needed=True,
    )


def _table(checks: tuple[Check, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from cuda_gym.judge.sandbox.probes import CheckState

    styles = {CheckState.OK: "green", CheckState.DEGRADED: "yellow", CheckState.MISSING: "yellow"}
    table = Table(box=None, pad_edge=False)
    table.add_column("what", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("fact and remedy", overflow="fold")
    for check in checks:
        is_bad = check.is_needed and check.state is not CheckState.OK
        style = "bold red" if is_bad else styles[check.state]
        said = Text(check.fact)
        if check.remedy:
            said.append(f"\n-> {check.remedy}", style)
        table.add_row(check.what, Text(check.state.value, style), said)
    return table
