"""Device functions and variables stay in their file, as nvcc keeps them without `-rdc`.

Covered: what another file declares `extern` or with a prototype stays visible to it, and so does what
a class calls its friend; macros may stand for any of the words that count. Not covered: members, whose
linkage is that of their class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import (
    Declaration,
    Kind,
    without_attributes,
)
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits

__all__ = ["Linkage", "linkage_in", "rewrite_linkage"]

_FIXED = ("static", "inline", "__forceinline__", "__inline__", "extern", "constexpr", "template", "__host__",
          "friend", "typedef", "using", "operator")  # fmt: skip
_ON_DEVICE = ("__global__", "__device__", "__constant__")
_FRIEND = re.compile(
    rf"\bfriend\b[^;{{}}()]*\b__(?:global|device)__\b[^;{{}}()]*?({IDENTIFIER})\s*\("
)
_MEMBER = re.compile(rf"::\s*~?{IDENTIFIER}\s*(?:\(|(?:\[[^\]]*\]\s*)*(?:[=;{{]|$))")


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """What decides the linkage of a declaration, in all files of a program."""

    on_device: frozenset[str]
    """Words that make something the device's."""
    fixed: frozenset[str]
    """Words that already say what its linkage is."""
    external: frozenset[str]
    """Names that other files refer to."""


def linkage_in(found: Sequence[Declaration]) -> Linkage:
    """What the declarations of all files say about linkage."""
    return Linkage(
        on_device=_standing_for(found, _ON_DEVICE),
        fixed=_standing_for(found, _FIXED),
        external=_external_names(found),
    )


def _standing_for(found: Sequence[Declaration], words: Collection[str]) -> frozenset[str]:
    """Words, and the macros that mention one of them, directly or through others."""
    macros = [d for d in found if d.kind is Kind.MACRO]
    standing = set(words)
    while more := {
        name
        for macro in macros
        if not macro.mentions.isdisjoint(standing)
        for name in macro.names - standing
    }:
        standing |= more
    return frozenset(standing)


def _external_names(found: Sequence[Declaration]) -> frozenset[str]:
    """What a file declares and another one defines, and the friends of classes."""
    defined = {(d.source.path, name) for d in found if d.kind is Kind.FUNCTION for name in d.names}
    friends = (
        match[1]
        for d in found
        if d.kind is Kind.CLASS
        for match in _FRIEND.finditer(d.source.masked, d.start, d.end)
    )
    return frozenset(friends) | frozenset(
        name
        for d in found
        if d.kind is Kind.PROTOTYPE or (d.kind is Kind.OTHER and d.has("extern"))
        for name in d.names
        if (d.source.path, name) not in defined
    )


def rewrite_linkage(own: Sequence[Declaration], linkage: Linkage, edits: Edits) -> None:
    """Make static what a file declares for itself.

    Args:
        own: What the file declares.
        linkage: What all files say about it.
        edits: Where the changes are collected.
    """
    for declaration in own:
        if declaration.kind in (Kind.MACRO, Kind.CLASS) or declaration.names & linkage.external:
            continue
        head = declaration.head
        words = list(re.finditer(IDENTIFIER, head))
        place = next((w.start() for w in words if w.group() in linkage.on_device), None)
        if place is None or any(word.group() in linkage.fixed for word in words):
            continue
        # Behind one of these it belongs to a lambda, or to a parameter.
        is_specifier = not re.search(r"[=(\[]", without_attributes(head[:place]))
        if is_specifier and not _MEMBER.search(without_attributes(head)):
            edits.insert(declaration.start + place, "static ")
