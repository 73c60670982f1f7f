"""What `compile` saw: the errors in source order, then the kernels and what they take.

The page is bounded whatever the compiler says: the first errors stand with their lines, further
ones without, the rest is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuda_gym.core.findings import Build, Diagnostic, Findings, KernelResources, Outcome, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.error_groups import ErrorGroup, group_diagnostics, undeclared_name
from cuda_gym.envs.feedback.excerpts import excerpt, source_lines
from cuda_gym.envs.feedback.hints import hint_for

__all__ = ["describe_build", "describe_diagnostics", "describe_error_count", "describe_warnings"]

_MAX_CHARS = 1800
"""Of what is said about errors: about 500 tokens."""
_MAX_BLOCKS = 6
_MAX_WITH_NEIGHBOURS = 3
_MAX_WARNINGS = 3
_MAX_MESSAGE = 220
_MAX_UNPLACED = 600
"""A message without a line is one of ours, and says all that can be done."""
_MAX_KERNELS = 8
_MIN_SUGGESTED = 3
_MODES = {"fibers": "fibers (slow: the skill cpu_device says what makes phases)"}
_SUGGESTION = re.compile(r"; did you mean '(?P<name>[^']*)'\?$")
_COMPILER_STOPS_AT = 20
"""How many errors the compiler tells."""


def describe_error_count(findings: Findings) -> str:
    """One line: how many errors, and in which files."""
    errors = [d for d in findings.diagnostics if d.severity is Severity.ERROR]
    if findings.outcome is Outcome.UNSUPPORTED_ON_DEVICE:
        return "This device cannot run it."
    count = str(len(errors))
    if len(errors) >= _COMPILER_STOPS_AT:
        count = f"{count} errors or more (the compiler stopped counting)"
    else:
        count += " errors" if len(errors) != 1 else " error"
    files = list(dict.fromkeys(d.file for d in errors if d.file))
    where = f" in {', '.join(files[:3])}" if files else ""
    return f"It does not compile: {count}{where}."


def describe_diagnostics(diagnostics: tuple[Diagnostic, ...], submission: Submission) -> str:
    """The errors in full; warnings where there are no errors."""
    errors = group_diagnostics(diagnostics, Severity.ERROR, submission)
    if not errors:
        return describe_warnings(diagnostics, submission)
    blocks: list[str] = []
    hints: set[str] = set()
    room = _MAX_CHARS
    for number, group in enumerate(errors):
        block = _block(group, submission, hints, around=int(number < _MAX_WITH_NEIGHBOURS))
        if blocks and (len(block) > room or number == _MAX_BLOCKS):
            left = errors[number:]
            rest = sum(1 + len(g.others) + len(g.also) + len(g.follow_ons) for g in left)
            blocks.append(f"... and {rest} more, {_lines([group.lead for group in left])}.")
            break
        blocks.append(block)
        room -= len(block)
    return "\n".join(blocks)


def describe_warnings(diagnostics: Sequence[Diagnostic], submission: Submission) -> str:
    """The compiler's warnings, each with its line alone."""
    groups = group_diagnostics(diagnostics, Severity.WARNING, submission)
    parts = []
    for group in groups[:_MAX_WARNINGS]:
        parts.append(_message(group.lead))
        lines = source_lines(submission, group.lead.file)
        parts.append(excerpt(lines, group.lead.line, group.lead.column))
        parts.append(_indented("also", _lines(group.also)) if group.also else "")
    if len(groups) > _MAX_WARNINGS:
        rest = [group.lead for group in groups[_MAX_WARNINGS:]]
        parts.append(f"... and {len(rest)} more warnings, {_lines(rest)}.")
    return "\n".join(part for part in parts if part)


def describe_build(build: Build, *, is_news: bool = True) -> str:
    """What each kernel takes of the device, and, as long as that is news, who compiled it."""
    lines = [f"Built by {build.toolchain.partition(' (')[0]}."] if is_news else []
    lines += [_kernel(kernel) for kernel in build.kernels[:_MAX_KERNELS]]
    if len(build.kernels) > _MAX_KERNELS:
        lines.append(f"  ... and {len(build.kernels) - _MAX_KERNELS} more kernels.")
    return "\n".join(lines)


def _block(group: ErrorGroup, submission: Submission, hints: set[str], *, around: int) -> str:
    """A message, its lines, and what belongs to it."""
    lead = group.lead
    lines = source_lines(submission, lead.file)
    hint = hint_for(lead, [*group.others, *group.notes], submission)
    if hint in hints:
        hint = None
    parts = [_message(lead, lines), *(_message(other, lines) for other in group.others[:3])]
    parts[0] = _without_suggestion(parts[0], has_hint=hint is not None)
    parts.append(excerpt(lines, lead.line, lead.column, around=around))
    if group.also:
        parts.append(_indented("also", _lines(group.also)))
    note = None if hint else _best_note(group.notes, lead)
    if note is not None:
        parts.append(_indented("note", _message(note, kind=False)))
        if note.line is not None and (note.file, note.line) != (lead.file, lead.line):
            parts.append(excerpt(source_lines(submission, note.file), note.line))
    if hint is not None:
        hints.add(hint)
        parts.append(_indented("hint", hint))
    surplus = [*group.others[3:], *group.follow_ons]
    if surplus:
        errors = (
            f"{len(surplus)} more errors follow" if len(surplus) > 1 else "1 more error follows"
        )
        is_here = {d.line for d in surplus} == {lead.line}
        parts.append(f"  ({errors} from it{'' if is_here else ', ' + _lines(surplus)})")
    return "\n".join(part for part in parts if part)


def _message(diagnostic: Diagnostic, lines: Sequence[str] = (), *, kind: bool = True) -> str:
    """Place and message; what the excerpt below shows anyway is left out."""
    message = diagnostic.message
    if diagnostic.line is not None and 1 <= diagnostic.line <= len(lines):
        message = message.removesuffix(f": {lines[diagnostic.line - 1].strip()[:120]}")
    most = _MAX_UNPLACED if diagnostic.line is None else _MAX_MESSAGE
    message = message if len(message) <= most else f"{message[:most]} ..."
    place = ":".join(
        str(p) for p in (diagnostic.file, diagnostic.line, diagnostic.column) if p is not None
    )
    if not place:
        return message
    return f"{place}: {diagnostic.severity.value}: {message}" if kind else f"{place}: {message}"


def _without_suggestion(message: str, *, has_hint: bool) -> str:
    """Drop what the compiler thinks was meant where it cannot know."""
    found = _SUGGESTION.search(message)
    if found is None:
        return message
    name = undeclared_name(message) or ""
    is_silly = has_hint or name == found["name"] or len(name) < _MIN_SUGGESTED
    return message[: found.start()] if is_silly else message


def _best_note(notes: Sequence[Diagnostic], lead: Diagnostic) -> Diagnostic | None:
    """The note that helps: why a candidate does not fit, or what is declared elsewhere."""
    telling = [
        note
        for note in notes
        if not note.message.startswith(("template argument deduction", "to match this"))
    ]
    reasons = [note for note in telling if not note.message.startswith("candidate: ")]
    elsewhere = [note for note in telling if (note.file, note.line) != (lead.file, lead.line)]
    return next(iter(reasons or elsewhere or telling), None)


def _lines(diagnostics: Sequence[Diagnostic]) -> str:
    """`at lines 12, 40`; other files with their names."""
    known = [d for d in diagnostics if d.line is not None]
    if not known:
        return "without a line"
    numbers = list(dict.fromkeys(d.line for d in known))
    shown = ", ".join(str(number) for number in numbers[:6])
    more = f" and {len(numbers) - 6} more" if len(numbers) > 6 else ""
    return f"at line{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _indented(word: str, text: str) -> str:
    return f"  {word}: {text}" if word != "also" else f"  {word} {text}"


def _kernel(kernel: KernelResources) -> str:
    block = "" if kernel.block_threads is None else f" at {kernel.block_threads} threads a block"
    limit = "" if kernel.limited_by is None else f", limited by {kernel.limited_by}"
    facts = [
        None if kernel.mode is None else f"runs as {_MODES.get(kernel.mode, kernel.mode)}",
        None if kernel.registers is None else f"{kernel.registers} registers",
        None if not kernel.shared_bytes else f"{kernel.shared_bytes:,} bytes of shared memory",
        None if not kernel.stack_bytes else f"{kernel.stack_bytes:,} bytes of local memory",
        None if kernel.occupancy is None else f"occupancy {kernel.occupancy:.0%}{block}{limit}",
    ]
    told = ", ".join(fact for fact in facts if fact is not None)
    line = f"  kernel {kernel.name}: {told}" if told else f"  kernel {kernel.name}"
    if kernel.spill_bytes:
        line += f"\n    warning: {kernel.spill_bytes:,} bytes of registers are spilled to local memory, which is as slow as global memory"
    return line
