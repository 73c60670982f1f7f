"""What `verify` saw: which hidden draw failed and how, and what the memory check found.

The page is bounded whatever was found: of many draws or findings the first are told, the rest is
counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuda_gym.core.findings import DrawFindings, MemoryFinding, Mismatch
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.excerpts import excerpt, source_lines
from cuda_gym.judge.verification.remedies import remedy

__all__ = ["describe_draws", "describe_memory"]

_MAX_FINDINGS = 4
_MAX_FINDING_CHARS = 1000
_MAX_TEXT = 300
_MAX_DESCRIPTION = 160


def describe_draws(draws: tuple[DrawFindings, ...], *, is_clean: bool = False) -> str:
    """Which draws passed, and the wrong elements of those that did not.

    Args:
        draws: All that were run.
        is_clean: Whether the memory check was run, too, and found nothing.
    """
    if not draws:
        return ""
    passed = [draw for draw in draws if draw.passed]
    failed = [draw for draw in draws if not draw.passed]
    names = _counted([draw.name for draw in passed])
    if not failed:
        return f"Draws: {names}.{' The memory check found nothing.' if is_clean else ''}"
    lines = [f"Hidden draws: {len(passed)} passed{f' ({names})' if names else ''}, then:"]
    lines += _failed_draw(failed[0])
    if len(failed) > 1:
        lines.append(f"  ... and {len(failed) - 1} more failed draws.")
    return "\n".join(lines)


def describe_memory(
    memory: tuple[MemoryFinding, ...], submission: Submission, *, told: str = ""
) -> str:
    """What the memory check found: who did what, with the lines of all sides, and how to repair it.

    Args:
        memory: The findings.
        submission: The files that were run.
        told: What is said above; a repair that stands there is not said again.
    """
    blocks: list[str] = []
    room = _MAX_FINDING_CHARS
    for number, finding in enumerate(memory):
        block = _finding(finding, submission)
        repair = remedy(finding)
        if repair and repair not in told:
            told += repair
            block += f"\n  repair: {repair}"
        if number and (number == _MAX_FINDINGS or len(block) > room):
            kinds = _counted([f.kind for f in memory[number:]])
            blocks.append(f"... and {len(memory) - number} more findings: {kinds}.")
            break
        blocks.append(block)
        room -= len(block)
    return "\n".join(blocks)


def _failed_draw(draw: DrawFindings) -> list[str]:
    lines = [f"  failed: {draw.name} ({_cut(draw.description, _MAX_DESCRIPTION)})"]
    if draw.reason:
        lines.append(f"    {_cut(draw.reason, _MAX_TEXT)}")
    if draw.first is not None:
        lines.append(f"    first at {_mismatch(draw.first)}")
    if draw.worst is not None and (draw.first is None or draw.worst.index != draw.first.index):
        lines.append(f"    worst at {_mismatch(draw.worst)}")
    if draw.pattern:
        lines.append(f"    pattern: {_cut(draw.pattern, _MAX_TEXT)}")
    return lines


def _mismatch(mismatch: Mismatch) -> str:
    index = ", ".join(str(i) for i in mismatch.index)
    allowed = "exactly" if not mismatch.allowed else f"+- {mismatch.allowed:.2g}"
    return f"[{index}]: got {mismatch.got:.7g}, expected {mismatch.expected:.7g} {allowed}"


def _finding(finding: MemoryFinding, submission: Submission) -> str:
    where = f" in kernel {finding.kernel}" if finding.kernel else ""
    lines = [f"{finding.kind}{where}: {finding.text}"]
    for side in finding.sides:
        lines.append(f"  {side}")
        lines.append(excerpt(source_lines(submission, side.file), side.line))
    return "\n".join(line for line in lines if line)


def _counted(names: Sequence[str]) -> str:
    """`spiky, ordinary (2)`, in the order of first appearance."""
    return ", ".join(
        name if names.count(name) == 1 else f"{name} ({names.count(name)})"
        for name in dict.fromkeys(names)
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."
