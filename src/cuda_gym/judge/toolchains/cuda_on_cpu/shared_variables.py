"""Shared variables in the checking build: each between two margins, and known to the runtime by name.

    __shared__ float tile[32][33], sum;

becomes, on one line, for each of them

    alignas(128) static struct { char before[128]; float tile[32][33]; char behind[128]; } holder;
    static auto& tile = holder.tile; and a call that tells the runtime of it

so that an index which leaves the variable meets a margin instead of the next variable.

Covered: several variables in one declaration, arrays, templates, alignments, macros. Not covered: a
declaration that is not understood stays as it is; its variables are then checked for races only as
variables of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuda_gym.judge.toolchains.cuda_declarations import Kind, declarations
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits, Source

__all__ = ["with_margins", "with_named_variables"]

# Bytes on each side; also the alignment, so that vector accesses stay aligned.
_MARGIN = 128
_SHARED = re.compile(r"\b(?:static\s+)?__shared__\b(?:\s+static\b)?")
_LONGEST = 2000
_SPECIFIER = re.compile(
    r"\s*(?:alignas\s*\([^()]*\)|__align__\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\))"
)
_VARIABLE = re.compile(
    r"\s*(?:(?:static|inline|const|volatile)\s+)*__(?:device|constant|managed)__\b"
    r"(?!.*\b(?:extern|template|constexpr|using|typedef|operator)\b)",
    re.DOTALL,
)
_DECLARATOR = re.compile(rf"^(?P<name>{IDENTIFIER})\s*(?P<dimensions>(?:\[.*\]\s*)*)$", re.DOTALL)


def with_margins(source: Source) -> Source:
    """The file with every `__shared__` variable between margins; lines are kept, columns are not."""
    masked = source.masked
    edits = Edits(source)
    for number, match in enumerate(_SHARED.finditer(masked)):
        before = masked[max(0, match.start() - 40) : match.start()]
        end = masked.find(";", match.end(), match.end() + _LONGEST)
        if end < 0 or re.search(r"\bextern\s+(?:volatile\s+)?$", before):
            continue
        text = " ".join(source.text[match.end() : end].replace("\\\n", " ").split())
        if declared := _declared(text, number):
            edits.replace(match.start(), end + 1, declared)
    return Source(source.path, edits.apply().text)


def with_named_variables(source: Source) -> Source:
    """The file with a call behind every device variable that tells the runtime of it, by name.

    A compiler also takes a variable whose address nobody takes for one that needs no watching.
    """
    edits = Edits(source)
    for declaration in declarations(source):
        text = source.masked[declaration.start : declaration.end]
        if declaration.kind is not Kind.OTHER or not _VARIABLE.match(text):
            continue
        for name in _names(text[:-1]):
            edits.insert(
                declaration.end,
                f" static const bool cuda_on_cpu_noted_{name} __attribute__((unused)) = "
                f'cuda_on_cpu_note_variable((const void*)&{name}, sizeof {name}, "{name}");',
            )
    return Source(source.path, edits.apply().text)


def _names(text: str) -> Iterator[str]:
    """The variables that a declaration declares; none where it is not understood."""
    for piece in _split(text):
        declarator = re.split(r"[={(]", piece, maxsplit=1)[0]
        if named := re.search(rf"({IDENTIFIER})\s*(?:\[[^\[\]]*\]\s*)*$", declarator):
            yield named[1]


def _declared(text: str, number: int) -> str | None:
    """The declarations that take the place of one; None where it is not understood."""
    alignment = ""
    while specifier := _SPECIFIER.match(text):
        alignment += specifier[0].strip() + " "
        text = text[specifier.end() :]
    if any(mark in text for mark in "={}"):
        return None
    first, *others = _split(text)
    head = re.search(rf"{IDENTIFIER}\s*(?:\[.*\]\s*)*$", first, re.DOTALL)
    if head is None or not (type_name := first[: head.start()].strip()):
        return None
    lines = []
    for place, declarator in enumerate((first[head.start() :].strip(), *others)):
        stars = re.match(r"[*\s]*", declarator)
        pointer = stars[0].strip() if stars else ""
        parts = _DECLARATOR.match(declarator[stars.end() if stars else 0 :].strip())
        if parts is None:
            return None
        member = f"{alignment}{type_name} {pointer}{parts['name']}{parts['dimensions'].strip()};"
        lines.append(_held(member, parts["name"], f"{number}_{place}"))
    return " ".join(lines)


def _held(member: str, name: str, suffix: str) -> str:
    holder = f"cuda_on_cpu_shared_{suffix}"
    return (
        f"static struct alignas({_MARGIN}) {{ char cuda_on_cpu_before[{_MARGIN}]; alignas({_MARGIN}) "
        f"{member} char cuda_on_cpu_behind[{_MARGIN}]; }} {holder}; "
        f"static auto& {name} = {holder}.{name}; "
        f"const bool {holder}_noted __attribute__((unused)) = "
        f'cuda_on_cpu_note_shared((const void*)&{name}, sizeof {name}, {_MARGIN}, "{name}");'
    )


def _split(text: str) -> Iterator[str]:
    """At the commas that no bracket of any kind holds."""
    depth = start = 0
    for offset, character in enumerate(text):
        if character in "([<{":
            depth += 1
        elif character in ")]>}":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:offset].strip()
            start = offset + 1
    yield text[start:].strip()
