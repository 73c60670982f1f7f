"""What `verify` saw: which hidden draw failed and how, and what the memory check found.

The page is bounded whatever was found: of many draws or findings the first are told, the rest is
counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from cuda_gym.core import DrawFindings, MemoryFinding, MemorySide, Mismatch, Submission
from cuda_gym.envs.feedback.excerpts import excerpt, source_lines

__all__ = ["describe_draws", "describe_memory"]

_MAX_FAILED = 2
_MAX_FINDINGS = 4
_MAX_FINDING_CHARS = 1100
_MAX_DESCRIPTION = 200


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
    for draw in failed[:_MAX_FAILED]:
        lines += _failed_draw(draw)
    if len(failed) > _MAX_FAILED:
        lines.append(f"  ... and {len(failed) - _MAX_FAILED} more failed draws.")
    return "\n".join(lines)


def describe_memory(memory: tuple[MemoryFinding, ...], submission: Submission) -> str:
    """What the memory check found: who did what, with the lines of all sides."""
    blocks: list[str] = []
    room = _MAX_FINDING_CHARS
    for number, finding in enumerate(memory):
        block = _finding(finding, submission)
        if number and (number == _MAX_FINDINGS or len(block) > room):
            kinds = _counted([f.kind for f in memory[number:]])
            blocks.append(f"... and {len(memory) - number} more findings: {kinds}.")
            break
        blocks.append(block)
        room -= len(block)
    return "\n".join(blocks)


def _failed_draw(draw: DrawFindings) -> list[str]:
    description = draw.description
    if len(description) > _MAX_DESCRIPTION:
        description = f"{description[:_MAX_DESCRIPTION]} ..."
    lines = [f"  failed: {draw.name} ({description})"]
    if draw.num_wrong:
        which = f" of output {draw.output}" if draw.output else ""
        share = draw.num_wrong / max(draw.num_elements, 1)
        lines.append(
            f"    {draw.num_wrong:,} of {draw.num_elements:,} elements{which} are wrong ({_share(share)})"
        )
    elif draw.reason:
        lines.append(f"    {draw.reason}")
    if draw.first is not None:
        lines.append(f"    first at {_mismatch(draw.first)}")
    if draw.worst is not None and draw.worst != draw.first:
        lines.append(f"    worst at {_mismatch(draw.worst)}")
    if draw.pattern:
        lines.append(f"    pattern: {draw.pattern}")
    return lines


def _mismatch(mismatch: Mismatch) -> str:
    index = ", ".join(str(i) for i in mismatch.index)
    allowed = "exactly" if not mismatch.allowed else f"+- {mismatch.allowed:.2g}"
    return f"[{index}]: got {mismatch.got:.7g}, expected {mismatch.expected:.7g} {allowed}"


def _share(share: float) -> str:
    if share in (0.0, 1.0) or 0.001 <= share <= 0.999:
        return f"{share:.1%}" if share < 1.0 else "all"
    return "less than 0.1%" if share < 0.5 else "more than 99.9%"


def _finding(finding: MemoryFinding, submission: Submission) -> str:
    where = f" in kernel {finding.kernel}" if finding.kernel else ""
    lines = [f"{finding.kind}{where}: {finding.text}"]
    for side in finding.sides:
        lines.append(f"  {_side(side)}")
        lines.append(excerpt(source_lines(submission, side.file), side.line))
    return "\n".join(line for line in lines if line)


def _side(side: MemorySide) -> str:
    return str(side)


def _counted(names: Sequence[str]) -> str:
    """`spiky, ordinary (2)`, in the order of first appearance."""
    return ", ".join(
        name if names.count(name) == 1 else f"{name} ({names.count(name)})"
        for name in dict.fromkeys(names)
    )
