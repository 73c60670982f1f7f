"""What `profile` saw: how fast, what limits it next, and the figures behind both."""

from __future__ import annotations

from cuda_gym.core.task import Submission
from cuda_gym.core.verdict import Profile, Telemetry, Timing, Verdict
from cuda_gym.envs.feedback.call_page import describe_host, describe_kernels, describe_roofline
from cuda_gym.envs.feedback.compile_page import describe_build
from cuda_gym.envs.feedback.counters_page import describe_counters
from cuda_gym.envs.feedback.findings_page import describe_findings, evidence
from cuda_gym.envs.feedback.next_limit import next_limit
from cuda_gym.envs.feedback.words import describe_bytes, describe_time, joined

__all__ = [
    "describe_conditions",
    "describe_standing",
    "describe_telemetry",
    "describe_verdict",
    "is_uncertain",
    "time_table",
]

_WIDE = 1.25
_SLOW = 0.9
"""Below this part of its highest clock a device is told to be slow."""
_SHOWN_CLOCK_RATIO = 1.3
"""Below it, our clock and the candidate's tell the same."""


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
    profile = verdict.profile or Profile()
    return joined(
        f"{describe_standing(timing)} {verdict.summary}",
        f"What limits it next: {next_limit(timing, profile).text}",
        time_table(timing),
        describe_kernels(profile),
        describe_host(timing),
        describe_roofline(timing, profile),
        describe_counters(profile),
        describe_conditions(timing, verdict.telemetry),
        "" if verdict.unranked is None else f"Not for a leaderboard: {verdict.unranked}.",
        *_others(verdict, submission, profile),
        _best(verdict, best),
        _next(timing),
    )


def describe_standing(timing: Timing) -> str:
    """How it compares with torch.compile, in a sentence.

    >>> describe_standing(Timing(time_us=1.0, compile_us=2.0, speedup=2.0, speedup_low=1.9,
    ...                          speedup_high=2.1, num_blocks=8, num_calls=64, timer="wall"))
    '2.00x as fast as torch.compile.'
    """
    ratio = f"{'About ' if is_uncertain(timing) else ''}{timing.speedup:.2f}x"
    if timing.speedup_low <= 1.0 <= timing.speedup_high:
        if is_uncertain(timing):
            return f"{ratio} torch.compile; the machine was too busy to say which is faster."
        return f"{ratio}: level with torch.compile within the noise."
    if timing.speedup < 1.0:
        return f"{ratio}: slower than torch.compile."
    return f"{ratio} as fast as torch.compile."


def is_uncertain(timing: Timing) -> bool:
    """Whether the ends of the interval are far apart."""
    return timing.speedup_high > _WIDE * timing.speedup_low


def time_table(timing: Timing) -> str:
    """The submission beside torch.compile and eager."""
    rows = [
        ("", "time", "speed-up over it", "95 % interval"),
        ("yours", describe_time(timing.time_us), "", ""),
        (
            "torch.compile",
            describe_time(timing.compile_us),
            f"{timing.speedup:.2f}x",
            f"{timing.speedup_low:.2f} to {timing.speedup_high:.2f}",
        ),
    ]
    if timing.eager_us is not None and timing.eager_speedup is not None:
        rows.append(("eager", describe_time(timing.eager_us), f"{timing.eager_speedup:.2f}x", ""))
    return "\n".join(f"{a:<14}{b:>10}  {c:>18}  {d}".rstrip() for a, b, c, d in rows)


def describe_conditions(timing: Timing, telemetry: Telemetry | None) -> str:
    """The state of the device, and how it was timed: a line each."""
    facts = [f"{timing.timer}; {timing.num_blocks} blocks of each side, {timing.num_calls} calls"]
    if timing.num_disturbed:
        facts.append(f"{timing.num_disturbed} disturbed pairs of blocks")
    if timing.clock_ratio is not None and timing.clock_ratio > _SHOWN_CLOCK_RATIO:
        facts.append(f"the judge's clock saw {timing.clock_ratio:.2f} times what was claimed")
    if timing.prepare_us is not None:
        facts.append(f"prepare() took {describe_time(timing.prepare_us)}, not counted")
    device = describe_telemetry(telemetry)
    return joined(
        f"Device: {device}." if device else "",
        f"Clock: {', '.join(facts)}.",
    )


def describe_telemetry(telemetry: Telemetry | None) -> str:
    """The state of the device in one line, without what it does not say.

    >>> describe_telemetry(Telemetry(clock_mhz=1980.0, power_w=312.4, load=0.5))
    '1980 MHz, 312 W, load 0.50'
    >>> describe_telemetry(Telemetry(clock_mhz=900.0, max_clock_mhz=1980.0, throttled="too hot"))
    '900 of 1980 MHz, throttled: too hot'
    """
    state = telemetry or Telemetry()
    is_gpu = state.memory_total_bytes is not None  # whose load is the submission's own
    others, their_bytes = state.num_other_processes, state.other_memory_bytes
    their_memory = f" with {describe_bytes(their_bytes)}" if their_bytes else ""
    slow_memory = _clock(state.memory_clock_mhz, state.max_memory_clock_mhz)
    facts = [
        _clock(state.clock_mhz, state.max_clock_mhz),
        f"memory at {slow_memory}" if slow_memory and " of " in slow_memory else None,
        None if state.temperature_c is None else f"{state.temperature_c:.0f} C",
        None if state.power_w is None else f"{state.power_w:.0f} W",
        None if state.load is None or is_gpu else f"load {state.load:.2f}",
        None if state.throttled is None else f"throttled: {state.throttled}",
        f"{others} other process{'es' if others > 1 else ''} on it{their_memory}"
        if others
        else None,
    ]
    return ", ".join(fact for fact in facts if fact is not None)


def _clock(clock_mhz: float | None, max_mhz: float | None) -> str | None:
    """A clock, and what it could be where it is well below that."""
    if clock_mhz is None:
        return None
    is_slow = max_mhz is not None and clock_mhz < _SLOW * max_mhz
    return f"{clock_mhz:.0f} of {max_mhz:.0f} MHz" if is_slow else f"{clock_mhz:.0f} MHz"


def _others(verdict: Verdict, submission: Submission, profile: Profile) -> list[str]:
    """What verify would tell, without the kernels that stand in the table."""
    build = verdict.findings.build
    told = "" if build is None or not profile.kernels else describe_build(build, is_news=False)
    return [part for part in evidence(verdict.findings, submission) if part != told]


def _best(verdict: Verdict, best: Verdict | None) -> str:
    if best is None or best.timing is None or best == verdict:
        return ""
    if best.submission == verdict.submission:
        return f"These files count as {best.timing.speedup:.2f}x: equal files are pooled."
    return f"Best so far: {best.timing.speedup:.2f}x, of other files."


def _next(timing: Timing) -> str:
    if timing.speedup_high < 1.0:
        return "Next: work on that limit; below 1x it loses to torch.compile."
    if timing.speedup_low <= 1.0 and is_uncertain(timing):
        return "Next: work on that limit, or submit: what counts is measured anew."
    if timing.speedup_low <= 1.0:
        return "Next: work on that limit; measuring again will not change the result."
    return "Next: submit, or work on that limit."
