"""A Verdict for a human: how it ended, the hidden draws, the times, the conditions."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cuda_gym.core.findings import Findings, Outcome
from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Profile, Timing, Verdict
from cuda_gym.envs.feedback.call_page import (
    describe_host,
    describe_launch_bound,
    describe_roofline,
    kernel_rows,
)
from cuda_gym.envs.feedback.findings_page import describe_findings
from cuda_gym.envs.feedback.next_limit import next_limit
from cuda_gym.envs.feedback.profile_page import describe_telemetry, is_uncertain
from cuda_gym.envs.feedback.words import describe_time

__all__ = [
    "conditions_view",
    "draws_view",
    "interval",
    "kernels_view",
    "outcome_style",
    "times_view",
    "verdict_view",
]

_WIDE_NOTE = "The interval is wide: other processes took the cores. Judge again on an idle machine."


def verdict_view(verdict: Verdict, submission: Submission) -> RenderableType:
    """All of it.

    Args:
        verdict: What the judge said.
        submission: The files that it judged, for the lines of its diagnostics.
    """
    parts: list[RenderableType] = [_headline(verdict)]
    if verdict.timing is None:
        parts.append(Text(_evidence(verdict.findings, submission)))
    if verdict.findings.draws:
        parts += [Text(), draws_view(verdict.findings)]
    if verdict.timing is not None:
        parts += [Text(), times_view(verdict.timing)]
        if is_uncertain(verdict.timing):
            parts.append(Text(_WIDE_NOTE, "yellow"))
        parts += _where_the_time_goes(verdict.timing, verdict.profile or Profile())
    return Group(*parts, Text(), conditions_view(verdict))


def outcome_style(outcome: Outcome | None) -> str:
    """Green for correct, yellow for what is nobody's mistake, red for the rest."""
    if outcome is Outcome.CORRECT:
        return "bold green"
    mild = (Outcome.MACHINE_ERROR, Outcome.UNSUPPORTED_ON_DEVICE, None)
    return "bold yellow" if outcome in mild else "bold red"


def interval(timing: Timing) -> str:
    """The 95 % interval of the speed-up.

    >>> interval(Timing(time_us=1.0, compile_us=2.0, speedup=2.0, speedup_low=1.9,
    ...                 speedup_high=2.1, num_blocks=1, num_calls=1, timer="wall"))
    '1.90 to 2.10'
    """
    return f"{timing.speedup_low:.2f} to {timing.speedup_high:.2f}"


def draws_view(findings: Findings) -> Table:
    """One row a hidden draw of inputs."""
    table = Table(box=None, pad_edge=False)
    table.add_column("hidden draw", no_wrap=True)
    table.add_column("inputs", overflow="fold", style="dim")
    table.add_column("error / allowed", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for draw in findings.draws:
        error = "-" if draw.error_ratio is None else f"{draw.error_ratio:.1%}"
        passed = Text("passed", "green") if draw.passed else Text("failed", "red")
        table.add_row(draw.name, draw.description, error, passed)
    return table


def times_view(timing: Timing) -> Table:
    """The submission beside torch.compile and eager."""
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("speed-up of the submission", justify="right")
    table.add_column("95 % interval", justify="right", no_wrap=True)
    table.add_row(Text("submission", "bold"), describe_time(timing.time_us), "", "")
    table.add_row(
        "torch.compile",
        describe_time(timing.compile_us),
        Text(f"{timing.speedup:.2f}x", "bold green" if timing.speedup > 1 else "bold yellow"),
        interval(timing),
    )
    if timing.eager_us is not None and timing.eager_speedup is not None:
        table.add_row(
            "eager",
            describe_time(timing.eager_us),
            f"{timing.eager_speedup:.2f}x",
            Text("-", "dim"),
        )
    return table


def kernels_view(profile: Profile) -> Table:
    """One row a kernel of a call, as the submission's process reports them."""
    table = Table(box=None, pad_edge=False)
    table.add_column("kernel, as reported", overflow="fold")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("of a call", justify="right", no_wrap=True)
    table.add_column("")
    for row in kernel_rows(profile):
        table.add_row(*row)
    return table


def conditions_view(verdict: Verdict) -> Table:
    """Under which conditions it holds."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _conditions(verdict):
        if value:
            table.add_row(name, value)
    return table


def _headline(verdict: Verdict) -> Text:
    """The outcome; its summary follows with the evidence where it is not correct."""
    style = outcome_style(verdict.outcome)
    if verdict.outcome is not Outcome.CORRECT:
        return Text(verdict.outcome.value, style)
    return Text.assemble((verdict.outcome.value, style), f"  {verdict.summary}")


def _where_the_time_goes(timing: Timing, profile: Profile) -> list[RenderableType]:
    """Kernels, roofline and what limits it next, each where it is known."""
    parts: list[RenderableType] = []
    if profile.kernels:
        parts += [Text(), kernels_view(profile)]
    for warning in filter(None, (describe_launch_bound(profile), describe_host(timing))):
        parts.append(Text(warning, "yellow"))
    if roofline := describe_roofline(timing, profile):
        parts += [Text(), Text(roofline)]
    if parts:
        parts += [Text(), Text(f"What limits it next: {next_limit(timing, profile).text}")]
    return parts


def _evidence(findings: Findings, submission: Submission) -> str:
    """What an agent would be told, without what it should do next; the draws have their table."""
    lines = describe_findings(findings, submission).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("Next: ", "Draws: ")))


def _conditions(verdict: Verdict) -> list[tuple[str, str | None]]:
    print_ = verdict.fingerprint
    timing = verdict.timing
    blocks = (
        None if timing is None else f"{timing.num_blocks} blocks a side, {timing.num_calls} calls"
    )
    if timing is not None and timing.num_disturbed:
        blocks = f"{blocks}, {timing.num_disturbed} disturbed pairs left out"
    return [
        ("task", verdict.task_id),
        ("submission", verdict.submission),
        ("device", verdict.device if print_ is None else f"{verdict.device}: {print_.device}"),
        ("compiled by", None if print_ is None else print_.toolchain),
        ("torch", None if print_ is None else print_.torch),
        ("clock", None if timing is None else f"{timing.timer}; {blocks}"),
        ("its state", describe_telemetry(verdict.telemetry)),
        ("isolation", None if print_ is None else print_.isolation.replace("+", ", ")),
        ("seed", None if verdict.seed is None else str(verdict.seed)),
        ("not ranked", verdict.unranked),
        ("judged in", f"{verdict.judge_s:.1f} s"),
    ]
