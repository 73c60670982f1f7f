"""Findings and Verdicts in words, for a language model and for a human.

The conclusion first, then the evidence in the order of its use, then one line that says what to do.
Not covered: how long a text may be; `observation` cuts it.
"""

from __future__ import annotations

from cuda_gym.core import (
    Build,
    DrawFindings,
    Findings,
    KernelResources,
    Mismatch,
    Outcome,
    Severity,
    Submission,
    Telemetry,
    Timing,
    Verdict,
)
from cuda_gym.envs.excerpts import describe_diagnostics, describe_memory

__all__ = ["describe_findings", "describe_settlement", "describe_time", "describe_verdict"]

_MAX_OUTPUT_CHARS = 1000
_NEXT = {
    None: "Next: verify runs it on hidden inputs.",
    Outcome.CORRECT: "Next: profile times it against torch.compile.",
    Outcome.COMPILE_ERROR: "Next: repair the first error, then compile again.",
    Outcome.WRONG: "Next: repair the first wrong draw, then verify again.",
    Outcome.RUNTIME_ERROR: "Next: repair the crash, then verify again.",
    Outcome.TIMEOUT: "Next: look for a loop or a barrier that never ends.",
    Outcome.REFUSED: "Next: compute it on kernels of your own; this is not paid.",
    Outcome.UNSUPPORTED_ON_DEVICE: "Next: write it without the named feature, for this device.",
    Outcome.MACHINE_ERROR: "This was the machine's fault, not yours.",
}


def describe_findings(findings: Findings, submission: Submission) -> str:
    """What compile or verify saw."""
    return _joined(_headline(findings), *_evidence(findings, submission), _next(findings))


def describe_settlement(final: Verdict | None, submission: Submission, *, paid: float) -> str:
    """How the episode ended.

    Args:
        final: The Verdict that was settled on; None where there was nothing to judge.
        submission: The files of that Verdict.
        paid: What the episode returned.
    """
    if final is None:
        said = "Nothing was handed in: model_new.py is still the skeleton."
    elif final.timing is None:
        said = _joined(
            f"Final judgement: {final.outcome.value}. {final.summary}",
            *_evidence(final.findings, submission),
        )
    else:
        said = _joined(
            f"Final judgement, on fresh inputs, of {', '.join(submission.paths)}: "
            f"right, and {final.timing.speedup:.2f}x as fast as torch.compile.",
            _time_table(final.timing),
            _details(final.timing, final.telemetry),
        )
    return f"The episode is over. {said}\nIt returned {paid:.4g} in all."


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
    return _joined(
        verdict.summary,
        _time_table(timing),
        _details(timing, verdict.telemetry),
        "" if verdict.unranked is None else f"Not for a leaderboard: {verdict.unranked}",
        *_evidence(verdict.findings, submission),
        standing,
        _advice(timing),
    )


def describe_time(time_us: float) -> str:
    """A time in the unit that suits it.

    >>> describe_time(0.5), describe_time(12.34), describe_time(2500), describe_time(3.2e6)
    ('0.500 us', '12.3 us', '2.50 ms', '3.20 s')
    """
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if time_us >= scale:
            return (
                f"{time_us / scale:.3g} {unit}"
                if time_us / scale >= 100
                else f"{time_us / scale:.2f} {unit}"
            )
    return f"{time_us:.1f} us" if time_us >= 10 else f"{time_us:.3f} us"


def _headline(findings: Findings) -> str:
    """The summary; a number where the diagnostics below say the same."""
    errors = [d for d in findings.diagnostics if d.severity is Severity.ERROR]
    if not errors or not findings.summary.startswith(str(errors[0])):
        return findings.summary
    if findings.outcome is Outcome.UNSUPPORTED_ON_DEVICE:
        return "This device cannot run it."
    return f"It does not compile: {len(errors)} error{'s' if len(errors) > 1 else ''}."


def _next(findings: Findings) -> str:
    if findings.memory:
        return "Next: repair that, then verify with check='memory' again."
    if findings.memory is not None and not findings.draws:
        return "Next: verify compares its outputs."
    return _NEXT[findings.outcome]


# Evidence


def _evidence(findings: Findings, submission: Submission) -> list[str]:
    build = findings.build
    return [
        describe_diagnostics(findings.diagnostics, submission),
        "" if build is None or findings.draws else _toolchain(build),
        "" if build is None else "\n".join(_kernel(kernel) for kernel in build.kernels),
        _draws(findings.draws),
        describe_memory(findings.memory or (), submission),
        _output(findings.output),
    ]


def _toolchain(build: Build) -> str:
    source = "from the cache" if build.cached else f"in {build.build_s:.2f} s"
    return f"Built by {build.toolchain} {source}."


def _kernel(kernel: KernelResources) -> str:
    facts = [
        None if kernel.mode is None else f"runs as {kernel.mode}",
        None if kernel.registers is None else f"{kernel.registers} registers",
        None if not kernel.spill_bytes else f"{kernel.spill_bytes:,} bytes spilled",
        None if not kernel.shared_bytes else f"{kernel.shared_bytes:,} bytes of shared memory",
        None if kernel.occupancy is None else f"occupancy {kernel.occupancy:.0%}",
    ]
    told = ", ".join(fact for fact in facts if fact is not None)
    return f"  kernel {kernel.name}: {told}" if told else f"  kernel {kernel.name}"


def _draws(draws: tuple[DrawFindings, ...]) -> str:
    if not draws:
        return ""
    passed = [draw for draw in draws if draw.passed]
    names = ", ".join(dict.fromkeys(draw.name for draw in passed))
    if len(passed) == len(draws):
        return f"Draws: {names}."
    lines = [f"Hidden draws: {len(passed)} of {len(draws)} passed{': ' if names else ''}{names}."]
    for draw in draws:
        if not draw.passed:
            lines += _failed_draw(draw)
    return "\n".join(lines)


def _failed_draw(draw: DrawFindings) -> list[str]:
    lines = [f"  failed: {draw.name} ({draw.description})"]
    if draw.reason:
        lines.append(f"    {draw.reason}")
    if draw.num_wrong:
        which = f" of output {draw.output}" if draw.output else ""
        share = draw.num_wrong / max(draw.num_elements, 1)
        lines.append(
            f"    {draw.num_wrong:,} of {draw.num_elements:,} elements{which} wrong ({share:.1%})"
        )
    if draw.first is not None:
        lines.append(f"    first at {_mismatch(draw.first)}")
    if draw.worst is not None and draw.worst != draw.first:
        lines.append(f"    worst at {_mismatch(draw.worst)}")
    if draw.pattern:
        lines.append(f"    pattern: {draw.pattern}")
    return lines


def _mismatch(mismatch: Mismatch) -> str:
    index = ", ".join(str(i) for i in mismatch.index)
    return (
        f"[{index}]: got {mismatch.got:.7g}, expected {mismatch.expected:.7g}, "
        f"allowed error {mismatch.allowed:.2g}"
    )


def _output(output: str) -> str:
    if not output.strip():
        return ""
    text = output if len(output) <= _MAX_OUTPUT_CHARS else output[:_MAX_OUTPUT_CHARS] + " ..."
    return f"It printed:\n{text.rstrip()}"


# Times


def _time_table(timing: Timing) -> str:
    interval = f"[{timing.speedup_low:.2f}, {timing.speedup_high:.2f}]"
    rows = [
        ("", "time", "yours is faster by", "95 % interval"),
        ("yours", describe_time(timing.time_us), "", ""),
        ("torch.compile", describe_time(timing.compile_us), f"{timing.speedup:.2f}x", interval),
    ]
    if timing.eager_us is not None and timing.eager_speedup is not None:
        rows.append(("eager", describe_time(timing.eager_us), f"{timing.eager_speedup:.2f}x", ""))
    return "\n".join(f"{a:<14}{b:>10}  {c:>18}  {d}".rstrip() for a, b, c, d in rows)


def _details(timing: Timing, telemetry: Telemetry | None) -> str:
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


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
