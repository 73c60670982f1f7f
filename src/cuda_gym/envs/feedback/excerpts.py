"""What is said of lines of a submission, with the lines themselves beside it."""

from __future__ import annotations

from cuda_gym.core import Diagnostic, MemoryFinding, Severity, Submission

__all__ = ["describe_diagnostics", "describe_memory"]

_MAX_DIAGNOSTICS = 8
_MAX_FINDINGS = 4
_MAX_LINE_CHARS = 160
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 1}


def describe_diagnostics(diagnostics: tuple[Diagnostic, ...], submission: Submission) -> str:
    """What the compiler said: errors first, each with its line and a caret."""
    ranked = sorted(diagnostics, key=lambda d: _ORDER[d.severity])
    blocks = [_diagnostic(d, submission) for d in ranked[:_MAX_DIAGNOSTICS]]
    if len(ranked) > _MAX_DIAGNOSTICS:
        blocks.append(f"... and {len(ranked) - _MAX_DIAGNOSTICS} more.")
    return "\n".join(blocks)


def describe_memory(memory: tuple[MemoryFinding, ...], submission: Submission) -> str:
    """What the memory check found: who did what, with the lines of all sides."""
    lines = []
    for finding in memory[:_MAX_FINDINGS]:
        lines.append(f"{finding.kind}: {finding.text}")
        for side in finding.sides:
            code = _line(submission, side.file, side.line)
            lines.append(f"  {side}")
            if code is not None:
                lines.append(f"{_margin(side.line)}{_shown(code)}")
    if len(memory) > _MAX_FINDINGS:
        lines.append(f"... and {len(memory) - _MAX_FINDINGS} more.")
    return "\n".join(lines)


def _diagnostic(diagnostic: Diagnostic, submission: Submission) -> str:
    line = _line(submission, diagnostic.file, diagnostic.line)
    if line is None:
        return str(diagnostic)
    code, margin = _shown(line), _margin(diagnostic.line)
    shown = f"{diagnostic}\n{margin}{code}"
    if diagnostic.column is not None and 1 <= diagnostic.column <= len(code):
        before = len(line[: diagnostic.column - 1].expandtabs(4))
        shown += "\n" + " " * (len(margin) - 2) + "| " + " " * before + "^"
    return shown


def _line(submission: Submission, file: str | None, line: int | None) -> str | None:
    """A line of the submission, if there is one."""
    source = None if file is None else submission.text(file)
    lines = [] if source is None else source.split("\n")
    return lines[line - 1] if line is not None and 1 <= line <= len(lines) else None


def _shown(line: str) -> str:
    return line.expandtabs(4)[:_MAX_LINE_CHARS]


def _margin(line: int | None) -> str:
    return f"{line or 0:>5} | "
