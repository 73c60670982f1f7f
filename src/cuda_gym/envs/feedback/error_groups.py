"""The messages of a compiler, told once each: in source order, by line, without what only follows.

Nothing is lost by count: what is not told in full is counted, or named by its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.braces import find_brace_trouble
from cuda_gym.envs.feedback.excerpts import source_lines

__all__ = ["ErrorGroup", "group_diagnostics", "undeclared_name"]

_UNDECLARED = re.compile(
    r"'(?P<name>[\w:]+)' (?:was not declared|has not been declared|does not name a type|undeclared)"
    r"|identifier \"(?P<identifier>[\w:]+)\" is undefined$"
)
_TELLING = (
    re.compile("stray '`'|unrecognized token|missing (?:closing quote|terminating)"),
    re.compile(
        rf"{_UNDECLARED.pattern}|No such file|is not a member of|name followed by|calling a __host__"
    ),
)
_SYNTAX = re.compile(
    r"^(?:expected |ISO C\+\+ forbids|variable or field .* declared void|stray |missing terminating"
    r"|too many decimal|unable to find|template argument \d+ is invalid|missing closing quote"
    r"|explicit type is missing|cannot overload functions|incomplete type|linkage specification"
    r"|unrecognized token|identifier .* is undefined in device code|too many arguments in function)"
)
_SYNTAX_OR_TYPE = re.compile(rf"{_SYNTAX.pattern}|'\w+' does not name a type")
"""What is said of statements that stand outside of functions."""
_MAX_HEAD = 8
"""Lines on which the head of a function may go on."""
_ARGUMENTS = re.compile(r"<[^<>]*>")
_SUGGESTION = re.compile(r"; did you mean '[^']*'\?$")


@dataclass
class ErrorGroup:
    """What is wrong at one line, and what else says the same."""

    lead: Diagnostic
    """The message that tells most."""
    notes: list[Diagnostic] = field(default_factory=list)
    """What the compiler added to it."""
    others: list[Diagnostic] = field(default_factory=list)
    """Further messages about this line that say something of their own."""
    also: list[Diagnostic] = field(default_factory=list)
    """The same message at other lines."""
    follow_ons: list[Diagnostic] = field(default_factory=list)
    """Messages that would not be there without the lead."""


def group_diagnostics(
    diagnostics: Iterable[Diagnostic], severity: Severity, submission: Submission
) -> list[ErrorGroup]:
    """The messages of one severity, by line and in source order, files in the compiler's order."""
    groups = _by_line(_with_notes(diagnostics, severity))
    groups = _folded(groups)
    return _without_consequences(groups, submission)


def undeclared_name(message: str) -> str | None:
    """The name that the compiler does not know, if this is what a message says.

    >>> undeclared_name("'idx' was not declared in this scope")
    'idx'
    >>> undeclared_name('identifier "idx" is undefined')
    'idx'
    """
    found = _UNDECLARED.search(message)
    return None if found is None else found["name"] or found["identifier"]


def _is_about_syntax(message: str) -> bool:
    """Whether the compiler could not even read the text: one such error brings others."""
    return _SYNTAX.match(message) is not None


def _with_notes(
    diagnostics: Iterable[Diagnostic], severity: Severity
) -> list[tuple[Diagnostic, list[Diagnostic]]]:
    heads: list[tuple[Diagnostic, list[Diagnostic]]] = []
    is_kept = False
    for diagnostic in diagnostics:
        if diagnostic.severity is not Severity.NOTE:
            is_kept = diagnostic.severity is severity
            if is_kept:
                heads.append((diagnostic, []))
        elif is_kept:
            heads[-1][1].append(diagnostic)
    files = list(dict.fromkeys(head.file for head, _ in heads))
    return sorted(heads, key=lambda h: (files.index(h[0].file), h[0].line or 0, h[0].column or 0))


def _by_line(heads: Sequence[tuple[Diagnostic, list[Diagnostic]]]) -> list[ErrorGroup]:
    """One group a line: an unknown name explains the syntax errors around it."""
    lines: dict[object, list[tuple[Diagnostic, list[Diagnostic]]]] = {}
    for number, (head, notes) in enumerate(heads):
        place = number if head.line is None else (head.file, head.line)
        lines.setdefault(place, []).append((head, notes))
    groups = []
    for members in lines.values():
        telling = [m for form in _TELLING for m in members if form.search(m[0].message)]
        lead, notes = (telling or members)[0]
        group = ErrorGroup(lead=lead, notes=list(notes))
        for head, _ in members:
            if head is lead or head.message == lead.message:
                continue
            is_noise = _TELLING[0].search(lead.message) or (
                _is_about_syntax(head.message) and (telling or _is_about_syntax(lead.message))
            )
            (group.follow_ons if is_noise else group.others).append(head)
        groups.append(group)
    return groups


def _folded(groups: Sequence[ErrorGroup]) -> list[ErrorGroup]:
    """Equal messages once, with the other lines."""
    kept: dict[tuple[str | None, str], ErrorGroup] = {}
    for group in groups:
        key = (group.lead.file, _ARGUMENTS.sub("<>", _SUGGESTION.sub("", group.lead.message)))
        if key not in kept or group.others:
            kept.setdefault(key, group)
            if kept[key] is not group:
                kept[key[0], f"{key[1]} at {group.lead.line}"] = group
            continue
        kept[key].also.append(group.lead)
        kept[key].follow_ons += group.follow_ons
    return list(kept.values())


def _without_consequences(groups: Sequence[ErrorGroup], submission: Submission) -> list[ErrorGroup]:
    """Fold what another error has caused.

    A name whose declaration did not compile is unknown afterwards, and where the grammar was broken
    the next line is misread too.
    """
    kept: list[ErrorGroup] = []
    for group in groups:
        name = undeclared_name(group.lead.message)
        cause = None if name is None else _declaring(name, kept, submission)
        if cause is None:
            cause = next((k for k in kept if _is_misread_after(k, group, submission)), None)
        if cause is None:
            kept.append(group)
        else:
            cause.follow_ons += [group.lead, *group.others, *group.also, *group.follow_ons]
    return kept


def _is_misread_after(before: ErrorGroup, group: ErrorGroup, submission: Submission) -> bool:
    """Whether the grammar was broken before: at the line above, or by a brace."""
    one, two = before.lead, group.lead
    if one.file != two.file:
        return False
    if _is_about_syntax(one.message) and _is_about_syntax(two.message):
        if (two.line or 0) - (one.line or 0) == 1:
            return True
    elif not all(_SYNTAX_OR_TYPE.match(d.message) for d in (one, two)):
        return False
    return find_brace_trouble(submission.text(one.file or "") or "") is not None


def _declaring(
    name: str, groups: Sequence[ErrorGroup], submission: Submission
) -> ErrorGroup | None:
    """The group at whose lines the name is declared."""
    declaration = re.compile(rf"[\w>*&]\s+[*&]*{re.escape(name)}\s*(?:=(?!=)|;|\[|\(|,|\))")
    for group in groups:
        if undeclared_name(group.lead.message) == name:
            continue
        lines = source_lines(submission, group.lead.file)
        wrong = {d.line for d in (group.lead, *group.follow_ons) if d.line is not None}
        if any(declaration.search(text) for line in wrong for text in _statement(lines, line)):
            return group
    return None


def _statement(lines: Sequence[str], line: int) -> list[str]:
    """The line before, since the compiler points at what follows a gap, and the rest of a head."""
    end = next(
        (
            n
            for n in range(line, min(line + _MAX_HEAD, len(lines)))
            if set("{;") & set(lines[n - 1])
        ),
        line,
    )
    return list(lines[max(0, line - 2) : end])
