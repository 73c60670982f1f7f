"""What a judgement has looked at, check by check, and what each found: `cuda-gym judge --explain`.

Read off the Verdict alone. Checks stand in the order in which they are made; behind the one that ended the
judgement all others are not reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, unique
from typing import TYPE_CHECKING

from cuda_gym.core.findings import Build, Findings, Outcome
from cuda_gym.core.verdict import Timing, Verdict
from cuda_gym.envs.feedback.words import describe_time
from cuda_gym.judge.profiling.roofline import floor_of

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["CheckState", "Explained", "explain", "explanation_view"]


@unique
class CheckState(Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    TOLD = "told"
    """It decides nothing."""
    NOT_MADE = "not made"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One check."""

    check: str
    state: CheckState
    found: str


_NAMES = (
    "rules of the text", "build", "walls", "import and calls", "hidden draws", "form, and inputs",
    "kernels alone", "memory", "race", "the judge's clock", "floor", "kernels", "device",
)  # fmt: skip


def explain(verdict: Verdict) -> tuple[Explained, ...]:
    """All checks of a judgement, in order."""
    made = list(_until_the_race(verdict))
    if verdict.timing is not None:
        made += _around_the_race(verdict, verdict.timing)
    known = {one.check for one in made}
    missing = (
        Explained(check=name, state=CheckState.NOT_REACHED, found="")
        for name in _NAMES
        if name not in known
    )
    return tuple(sorted((*made, *missing), key=lambda one: _NAMES.index(one.check)))


def explanation_view(verdict: Verdict) -> Table:
    """The checks as a table."""
    from rich.table import Table
    from rich.text import Text

    styles = {CheckState.PASSED: "green", CheckState.FAILED: "bold red", CheckState.TOLD: "cyan"}
    table = Table(box=None, pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("what it found", overflow="fold")
    for one in explain(verdict):
        state = Text(one.state.value, styles.get(one.state, "dim"))
        table.add_row(one.check, state, Text(one.found))
    return table


def _until_the_race(verdict: Verdict) -> Iterator[Explained]:
    findings, outcome = verdict.findings, verdict.outcome
    if outcome is Outcome.REFUSED and findings.build is None:
        yield _failed("rules of the text", findings.summary)
        return
    yield _passed("rules of the text", _about_text(findings.build))
    if findings.build is None:
        yield _failed("build", findings.summary)
        return
    yield _passed("build", _about_build(findings.build, findings))
    if verdict.fingerprint is None:
        yield _failed("walls", findings.summary)
        return
    walls = verdict.fingerprint.isolation.replace("+", ", ")
    unranked = f"; not ranked: {verdict.unranked}" if verdict.unranked else ""
    yield Explained(check="walls", state=CheckState.TOLD, found=f"{walls}{unranked}")
    yield from _about_draws(findings, outcome)
    if findings.memory is not None:
        count = len(findings.memory)
        found = "no race, no stray access" if not count else f"{count} finding(s)"
        yield (_failed if count else _passed)("memory", found)
    elif verdict.timing is not None:
        yield Explained(
            check="memory", state=CheckState.NOT_MADE, found="verify(check='memory') makes it"
        )
    if verdict.timing is None and _reached_the_race(findings, outcome):
        yield _failed("race", findings.summary)


def _about_draws(findings: Findings, outcome: Outcome) -> Iterator[Explained]:
    draws = findings.draws
    wrong = [draw for draw in draws if not draw.passed]
    if wrong:
        yield _failed("hidden draws", f"{wrong[0].name}: {wrong[0].reason or findings.summary}")
    elif draws:
        largest = max((draw.error_ratio or 0.0 for draw in draws), default=0.0)
        found = (
            f"{len(draws)} right, half of them under moved weights; the largest error is {largest:.0%} of "
            "what is allowed"
        )
        yield _passed("hidden draws", found)
        yield _passed("import and calls", "imported, constructed, and called for every draw")
        yield _passed("form, and inputs", "shape, dtype and device are due; inputs are unchanged")
        yield _passed(
            "kernels alone", "a kernel was launched for every output, and no operator called"
        )
    elif outcome is not Outcome.MACHINE_ERROR:
        kinds = {Outcome.REFUSED: "kernels alone", Outcome.WRONG: "form, and inputs"}
        yield _failed(kinds.get(outcome, "import and calls"), findings.summary)


def _around_the_race(verdict: Verdict, timing: Timing) -> Iterator[Explained]:
    disturbed = f", {timing.num_disturbed} disturbed" if timing.num_disturbed else ""
    yield _passed(
        "race",
        f"{timing.num_calls} calls in {timing.num_blocks} blocks a side{disturbed}, timer: {timing.timer}; "
        "all their outputs were right",
    )
    if timing.clock_ratio is None:
        yield Explained(check="the judge's clock", state=CheckState.NOT_MADE, found="no dry run")
    else:
        seen = f"{timing.clock_ratio:.2f} times what is claimed, at best"
        found = "nothing beyond what is claimed" if timing.clock_ratio <= 1.0 else seen
        yield _passed("the judge's clock", found)
    floor = floor_of(verdict.profile)
    if floor is None:
        yield Explained(check="floor", state=CheckState.NOT_MADE, found="rates are not known")
    else:
        found = (
            f"{describe_time(floor.time_us)}; the submission takes {describe_time(timing.time_us)}"
        )
        yield Explained(check="floor", state=CheckState.TOLD, found=found)
    share = verdict.profile and verdict.profile.kernel_share
    found = "not known" if share is None else f"{share:.0%} of a call, by its own account"
    yield Explained(check="kernels", state=CheckState.TOLD, found=found)
    others = verdict.telemetry and verdict.telemetry.num_other_processes
    throttled = verdict.telemetry and verdict.telemetry.throttled
    found = f"{others or 'no'} other process(es) on it, throttled: {throttled or 'no'}"
    yield Explained(check="device", state=CheckState.TOLD, found=found)


def _about_text(build: Build | None) -> str:
    found = "nothing that the task forbids is named"
    evidence = "" if build is None else "; ".join(build.evidence)
    return f"{found}; of note, and no reason: {evidence}" if evidence else found


def _about_build(build: Build, findings: Findings) -> str:
    count = len(findings.diagnostics)
    cached = ", built before" if build.cached else ""
    return f"{build.toolchain}, {len(build.kernels)} kernel(s), {count} warning(s){cached}"


def _reached_the_race(findings: Findings, outcome: Outcome) -> bool:
    return (
        bool(findings.draws)
        and all(draw.passed for draw in findings.draws)
        and not findings.memory
        and outcome is not Outcome.MACHINE_ERROR
    )


def _passed(check: str, found: str) -> Explained:
    return Explained(check=check, state=CheckState.PASSED, found=found)


def _failed(check: str, found: str) -> Explained:
    return Explained(check=check, state=CheckState.FAILED, found=found)
