"""What `profile` saw: a timed judgement."""

from __future__ import annotations

from cuda_gym.core import Submission, Telemetry, Timing, Verdict
from cuda_gym.envs.feedback.findings_page import describe_findings, evidence
from cuda_gym.envs.feedback.words import describe_time, joined

__all__ = ["describe_verdict", "time_details", "time_table"]


def describe_verdict(
    verdict: Verdict, submission: Submission, *, best: Verdict | None = None
) -> str:
    """What a timed judgement saw.

    Args:
        verdict: The judgement.
        submission: The files that were judged.
        best: The pooled Verdict of the best submission so far, where that is told beside it.
    """
    timing = verdict.timing
    if timing is None:
        return describe_findings(verdict.findings, submission)
    standing = ""
    if best is not None and best.timing is not None:
        standing = f"Best so far: {best.timing.speedup:.2f}x (equal files are pooled)."
    return joined(
        verdict.summary,
        time_table(timing),
        time_details(timing, verdict.telemetry),
        "" if verdict.unranked is None else f"Not for a leaderboard: {verdict.unranked}",
        *evidence(verdict.findings, submission),
        standing,
        _advice(timing),
    )


def time_table(timing: Timing) -> str:
    """The submission beside torch.compile and eager."""
    interval = f"[{timing.speedup_low:.2f}, {timing.speedup_high:.2f}]"
    rows = [
        ("", "time", "yours is faster by", "95 % interval"),
        ("yours", describe_time(timing.time_us), "", ""),
        ("torch.compile", describe_time(timing.compile_us), f"{timing.speedup:.2f}x", interval),
    ]
    if timing.eager_us is not None and timing.eager_speedup is not None:
        rows.append(("eager", describe_time(timing.eager_us), f"{timing.eager_speedup:.2f}x", ""))
    return "\n".join(f"{a:<14}{b:>10}  {c:>18}  {d}".rstrip() for a, b, c, d in rows)


def time_details(timing: Timing, telemetry: Telemetry | None) -> str:
    """How it was timed, and the state of the device."""
    facts = [
        f"Timer {timing.timer}, {timing.num_blocks} blocks of each side, {timing.num_calls} calls"
    ]
    if timing.clock_ratio is not None and timing.clock_ratio > 1.3:
        facts.append(f"the judge's clock saw {timing.clock_ratio:.2f} times what was claimed")
    if timing.prepare_us is not None:
        facts.append(f"prepare() took {describe_time(timing.prepare_us)}, not counted")
    if telemetry is not None:
        facts += _telemetry(telemetry)
    return "; ".join(facts) + "."


def _telemetry(telemetry: Telemetry) -> list[str]:
    facts = [
        None if telemetry.load is None else f"load {telemetry.load:.2f}",
        None if telemetry.clock_mhz is None else f"{telemetry.clock_mhz:.0f} MHz",
        None if telemetry.temperature_c is None else f"{telemetry.temperature_c:.0f} C",
        None if telemetry.power_w is None else f"{telemetry.power_w:.0f} W",
        None if telemetry.throttled is None else f"throttled: {telemetry.throttled}",
    ]
    return [fact for fact in facts if fact is not None]


def _advice(timing: Timing) -> str:
    if timing.speedup_high < 1.0:
        return "Next: it is slower than torch.compile; fuse passes over memory, or share work."
    if timing.speedup_low <= 1.0:
        return "Next: it is level with torch.compile within the noise; measuring again will not change that."
    return "Next: submit, or look for the next bottleneck."
