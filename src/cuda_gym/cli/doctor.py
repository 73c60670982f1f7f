"""`cuda-gym doctor`: what this machine is, and what works on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuda_gym.cli.exit_codes import ExitCode
from cuda_gym.core.findings import Outcome

if TYPE_CHECKING:
    from rich.table import Table

    from cuda_gym.cli.screen import Screen
    from cuda_gym.core.device import Device
    from cuda_gym.core.findings import Findings
    from cuda_gym.judge.sandbox.probes import Check

__all__ = ["Doctor"]

_TASK = "core/row_sum"
"""What is built and run: the smallest one that needs threads to wait for each other."""


@dataclass(frozen=True, kw_only=True)
class Doctor:
    """Try what an episode needs here, and say how to get what is missing.

    Exit codes:
    - 0 an episode can be played
    - 2 there is no device of that name
    - 3 it cannot, and what is missing is named
    """

    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`, ...; `auto` is the best that can be driven here."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self, screen: Screen) -> ExitCode:
        """Try everything."""
        from cuda_gym.cli.devices import device_of
        from cuda_gym.core.plain import as_plain
        from cuda_gym.judge.sandbox.probes import CheckState

        device = device_of(self.device)
        checks = tuple(_checks(device, screen))
        can_play = all(check.state is CheckState.OK for check in checks if check.is_needed)
        option = "" if self.device == "auto" else f" --device {device}"
        screen.show(_table(checks))
        screen.show("")
        screen.show(
            f"[bold green]An episode can be played on {device}.[/] Begin with "
            f"[cyan]cuda-gym demo{option}[/]."
            if can_play
            else f"[bold red]No episode can be played on {device} yet.[/] Missing: {_missing(checks)}. "
            "Follow their remedies first."
        )
        screen.give({"can_play": can_play, "device": str(device), "checks": as_plain(checks)})
        return ExitCode.OK if can_play else ExitCode.MACHINE


def _missing(checks: Sequence[Check]) -> str:
    """What an episode needs and has not, the last row left out where there is more to say than that it failed."""
    from cuda_gym.judge.sandbox.probes import CheckState

    needed = [
        check.what for check in checks if check.is_needed and check.state is not CheckState.OK
    ]
    return ", ".join(needed[:-1] or needed)


def _checks(device: Device, screen: Screen) -> Iterator[Check]:
    from cuda_gym.cli.machine import machine_checks
    from cuda_gym.judge.judge import open_judge
    from cuda_gym.judge.sandbox.probes import (
        CheckState,
        closed_code_check,
        probe_device_lock,
        probe_pressure,
        probe_walls,
        read_outputs_check,
        seals_check,
    )

    with screen.waiting("looking at the machine"):
        yield from machine_checks(device)
    with screen.waiting("putting up walls, and running against them"):
        yield from probe_walls()
    if device.kind == "cpu":
        yield seals_check()
        yield probe_pressure()
    yield probe_device_lock(device)
    real = _real_run(device, screen)
    if device.kind == "cpu" and real.state is CheckState.OK:
        judge = open_judge("cpu")
        yield closed_code_check(closes_code=judge.closes_code)
        yield read_outputs_check(reads_outputs=judge.reads_outputs)
    yield real


def _real_run(device: Device, screen: Screen) -> Check:
    """Build a kernel, and run it on hidden inputs in the sandbox."""
    from cuda_gym.errors import MachineError, TaskError
    from cuda_gym.judge.sandbox.probes import Check, CheckState

    what = "a real kernel"
    try:
        with screen.waiting("building a kernel and running it; PyTorch starts first"):
            findings = _verify(device)
        is_right, fact = findings.outcome is Outcome.CORRECT, findings.summary
    except (MachineError, TaskError) as error:
        is_right, fact = False, str(error)
    if is_right:
        return Check(what=what, state=CheckState.OK, fact=f"{_TASK}: {fact}", is_needed=True)
    return Check(
        what=what,
        state=CheckState.MISSING,
        fact=f"{_TASK}: {fact}",
        remedy="Follow the remedies above first; then try again on an idle machine.",
        is_needed=True,
    )


def _verify(device: Device) -> Findings:
    from cuda_gym.agents.scripted import load_solution
    from cuda_gym.core.task import Submission
    from cuda_gym.judge.judge import open_judge
    from cuda_gym.tasks.registry import load_task
    from cuda_gym.tasks.sizes import sized_for

    task = sized_for(load_task(_TASK), device)
    return open_judge(str(device)).verify(task, Submission.of(load_solution(_TASK)))


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
