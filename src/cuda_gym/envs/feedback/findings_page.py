"""What `compile` and `verify` saw: the conclusion, the evidence of both, and what to do next."""

from __future__ import annotations

from cuda_gym.core.findings import Findings, Outcome, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.compile_page import (
    describe_build,
    describe_diagnostics,
    describe_error_count,
)
from cuda_gym.envs.feedback.printed import describe_printed
from cuda_gym.envs.feedback.verify_page import describe_draws, describe_memory
from cuda_gym.envs.feedback.words import joined

__all__ = ["describe_findings", "evidence"]

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
_MAX_SUMMARY = 600


def describe_findings(findings: Findings, submission: Submission) -> str:
    """What compile or verify saw."""
    return joined(_headline(findings), *evidence(findings, submission), _next(findings))


def evidence(findings: Findings, submission: Submission) -> list[str]:
    """Diagnostics, kernels, draws, memory findings and output, each where there is one."""
    build = findings.build
    has_run = bool(findings.draws) or findings.memory is not None
    has_failed = bool(findings.memory) or findings.outcome not in (None, Outcome.CORRECT)
    return [
        describe_diagnostics(findings.diagnostics, submission) if not has_run else "",
        "" if build is None or has_failed else describe_build(build, is_news=not has_run),
        describe_draws(findings.draws, is_clean=findings.memory == ()),
        describe_memory(findings.memory or (), submission, told=_headline(findings)),
        _warnings(findings) if has_run else "",
        describe_printed(_untold(findings)),
    ]


def _untold(findings: Findings) -> str:
    """What was printed, without what the summary has taken from it."""
    lines = findings.output.splitlines()
    return "\n".join(line for line in lines if not line.strip() or line not in findings.summary)


def _warnings(findings: Findings) -> str:
    """A reminder: their lines were told by compile."""
    warnings = [d for d in findings.diagnostics if d.severity is Severity.WARNING]
    if not warnings:
        return ""
    more = f" (and {len(warnings) - 1} more: see compile)" if len(warnings) > 1 else ""
    return f"The compiler warned: {warnings[0]}{more}"


def _headline(findings: Findings) -> str:
    """The summary; a number where the evidence below says the same."""
    summary = findings.summary
    errors = [d for d in findings.diagnostics if d.severity is Severity.ERROR]
    if errors and (summary.startswith(str(errors[0])) or errors[0].message in summary):
        return describe_error_count(findings)
    failed = [draw for draw in findings.draws if not draw.passed]
    if failed and findings.outcome is Outcome.WRONG:
        cause = "; the memory check found what may be why" if findings.memory else ""
        return f"Wrong on hidden inputs: the {failed[0].name!r} draw failed{cause}."
    return summary if len(summary) <= _MAX_SUMMARY else f"{summary[:_MAX_SUMMARY]} ..."


def _next(findings: Findings) -> str:
    if findings.memory:
        return "Next: repair what the memory check found, then verify again."
    if findings.outcome is Outcome.UNSUPPORTED_ON_DEVICE and findings.build is not None:
        return "Next: go on without the memory check; verify compares its outputs."
    if findings.outcome is Outcome.CORRECT and not findings.draws:
        return "Next: verify compares its outputs."
    if findings.outcome is Outcome.WRONG and not any(not draw.passed for draw in findings.draws):
        return "Next: repair what forward returns, then verify again."
    return _NEXT[findings.outcome]
