"""What an error, or the draws that were run, amount to: an outcome and one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from cuda_gym.core.findings import DrawFindings, Findings, MemoryFinding, Mismatch, Outcome
from cuda_gym.errors import (
    AgentError,
    CandidateTimeout,
    CompileError,
    MachineError,
    Refused,
    UnsupportedOnDevice,
    WrongOutput,
)
from cuda_gym.judge.verification.remedies import remedy

UNSET = "unset variable"
"""The kind of what is found where outputs depend on a variable without a value."""
_OUTCOMES: tuple[tuple[type[Exception], Outcome], ...] = (
    (CompileError, Outcome.COMPILE_ERROR),
    (UnsupportedOnDevice, Outcome.UNSUPPORTED_ON_DEVICE),
    (WrongOutput, Outcome.WRONG),
    (CandidateTimeout, Outcome.TIMEOUT),
    (Refused, Outcome.REFUSED),
    (AgentError, Outcome.RUNTIME_ERROR),
    (MachineError, Outcome.MACHINE_ERROR),
)


def conclude_error(error: AgentError | MachineError | OSError) -> Findings:
    """The outcome that an error stands for; one of the system is what it refused to the judge itself.

    >>> conclude_error(OSError(24, "Too many open files")).summary
    'This machine refused something to the judge: [Errno 24] Too many open files. Free it, and judge again.'
    """
    if isinstance(error, OSError):
        refused = f"This machine refused something to the judge: {error}."
        error = MachineError(f"{refused} Free it, and judge again.")
    outcome = next(outcome for kind, outcome in _OUTCOMES if isinstance(error, kind))
    diagnostics = getattr(error, "diagnostics", ())
    return Findings(outcome=outcome, summary=str(error), diagnostics=diagnostics)


def conclude_draws(compiled: Findings, draws: tuple[DrawFindings, ...], printed: str) -> Findings:
    """What the draws amount to."""
    last = draws[-1]
    if last.passed:
        worst = max(draw.error_ratio or 0.0 for draw in draws)
        share = f"{worst:.0%}" if worst >= 0.01 else "less than 1%"
        outcome = Outcome.CORRECT
        summary = (
            f"Right on {len(draws)} hidden draws; the largest error is {share} of what is allowed."
        )
    else:
        outcome = Outcome.WRONG
        pattern = f" Pattern: {last.pattern}." if last.pattern else ""
        summary = f"Wrong on the {last.name!r} draw ({last.description}): {last.reason}{pattern}"
    return replace(compiled, outcome=outcome, summary=summary, draws=draws, output=printed)


def conclude_memory(findings: Findings, memory: tuple[MemoryFinding, ...] | None) -> Findings:
    """What the memory check adds; None where it could not be run to its end.

    A race is a bug although the outputs were right this time. What host code has written is no kernel's
    work at all. Where something failed before, its outcome stays, and the check may explain it.
    """
    memory = None if memory is None else _causes_first(memory)
    if findings.outcome is not Outcome.CORRECT:
        # Outputs that were wrong anyway say nothing of variables without a value.
        memory = memory and tuple(finding for finding in memory if finding.kind != UNSET)
        found = f" {_found(memory)}" if memory else ""
        return replace(findings, summary=f"{findings.summary}{found}", memory=memory)
    if memory is None:
        untold = f"{findings.summary} The memory check could not be run to its end."
        return replace(findings, summary=untold)
    if not memory:
        return replace(findings, memory=memory)
    is_host_work = all(finding.kind in _HOST_WORK for finding in memory)
    return replace(
        findings,
        outcome=Outcome.REFUSED if is_host_work else Outcome.WRONG,
        summary=_found(memory),
        memory=memory,
    )


_HOST_WORK = ("host access", "unwritten output")


def _causes_first(memory: tuple[MemoryFinding, ...]) -> tuple[MemoryFinding, ...]:
    """Races before reads of what was not yet written: the former are why."""
    if not any(finding.kind == "data race" for finding in memory):
        return memory
    return tuple(sorted(memory, key=lambda finding: finding.kind == "uninitialised read"))


def _found(memory: tuple[MemoryFinding, ...]) -> str:
    """The first finding in a sentence, and how it is repaired."""
    first = memory[0]
    more = f" (and {len(memory) - 1} more)" if len(memory) > 1 else ""
    where = f" in kernel {first.kernel}" if first.kernel else ""
    place = next((f" at {s.file}:{s.line}" for s in first.sides if s.file), "")
    repair = f": {advice}" if (advice := remedy(first)) else ""
    return f"The memory check found: {first.kind}{where}{place}{more}{repair}."


def read_draw(plain: Mapping[str, Any]) -> DrawFindings:
    """Findings out of plain JSON."""

    def element(value: Mapping[str, Any] | None) -> Mismatch | None:
        if value is None:
            return None
        numbers = {name: float(value[name]) for name in ("got", "expected", "allowed")}
        return Mismatch(index=tuple(value["index"]), **numbers)

    converted: dict[str, Callable[[Any], Any]] = {
        "first": element,
        "worst": element,
        "error_ratio": lambda v: None if v is None else float(v),
    }
    return DrawFindings(
        **{f.name: converted.get(f.name, lambda v: v)(plain[f.name]) for f in fields(DrawFindings)}
    )
