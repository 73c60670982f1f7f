"""`extern __shared__ float s[];` becomes a pointer to the block's dynamic shared memory.

Inside a function it is declared there; at namespace scope it is declared in every function that uses it,
since the memory is another one in each OS thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits, Source

__all__ = ["pointers_at_namespace_scope", "rewrite_shared"]

_DYNAMIC_SHARED = re.compile(
    r"\b(?:extern\s+(?P<volatile>volatile\s+)?__shared__|(?P<late>volatile\s+)?__shared__\s+extern"
    r"|(?P<early>volatile\s+)extern\s+__shared__)\s+"
    rf"(?P<type>[^;\[\]{{}}]*?)\b(?P<name>{IDENTIFIER})\s*"
    r"\[\s*\](?P<dimensions>(?:\s*\[[^\[\];]*\])*)\s*;"
)
_ALIGNMENT = re.compile(
    r"\b(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)|__attribute__\s*\(\(.*?\)\)"
)
_SHARED = re.compile(
    r"\b(?P<static>static\s+)?__shared__\b(?P<late>\s+static\b)?"
    r"(?P<alignment>\s+alignas\s*\((?:[^()]|\([^()]*\))*\))?"
)


def pointers_at_namespace_scope(found: Sequence[Declaration]) -> dict[str, str]:
    """The declarations that take the place of each, by name: one in every function that uses it."""
    pointers = {}
    for declaration in found:
        if declaration.kind is Kind.OTHER and (match := _DYNAMIC_SHARED.match(declaration.head)):
            pointers[match["name"]] = _pointer(match)
    return pointers


def _pointer(match: re.Match[str]) -> str:
    name, dimensions = match["name"], match["dimensions"].strip()
    scalar = " ".join(_ALIGNMENT.sub("", match["type"]).split())
    if match["volatile"] or match["late"] or match["early"]:
        scalar = f"volatile {scalar}"
    declarator = f"(* const {name}){dimensions}" if dimensions else f"* const {name}"
    cast = f"{scalar} (*){dimensions}" if dimensions else f"{scalar}*"
    return f"{scalar} {declarator} = ({cast})cuda_on_cpu_dynamic_shared;"


def rewrite_shared(
    source: Source, own: Sequence[Declaration], pointers: Mapping[str, str], edits: Edits
) -> None:
    """Rewrite the declarations of shared variables in a file.

    Args:
        source: The file.
        own: What it declares.
        pointers: As `pointers_at_namespace_scope` found them, in all files.
        edits: Where the changes are collected.
    """
    outside = {d.start for d in own if d.kind is Kind.OTHER}
    for match in _DYNAMIC_SHARED.finditer(source.masked):
        edits.replace(*match.span(), "" if match.start() in outside else _pointer(match))
    for declaration in own:
        if declaration.kind is not Kind.FUNCTION or declaration.body is None:
            continue
        for name in sorted(declaration.mentions & pointers.keys()):
            if not declaration.has(name):
                edits.insert(declaration.body, f" {pointers[name]} ")
    for match in _SHARED.finditer(source.masked):
        if match["static"] or match["late"] or match["alignment"]:
            alignment = (match["alignment"] or "").strip()
            edits.replace(*match.span(), f"{alignment} __shared__".strip())
