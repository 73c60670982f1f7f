"""What `compile` and `verify` saw."""

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
)
from cuda_gym.envs.feedback.excerpts import describe_diagnostics, describe_memory
from cuda_gym.envs.feedback.words import joined

__all__ = ["describe_findings", "evidence"]

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
    return joined(_headline(findings), *evidence(findings, submission), _next(findings))


def evidence(findings: Findings, submission: Submission) -> list[str]:
    """Diagnostics, kernels, draws, memory findings and output, each where there is one."""
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
