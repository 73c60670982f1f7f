"""Device functions and variables stay in their file, as nvcc keeps them without `-rdc`.

Covered: what another file declares `extern` or with a prototype stays visible to it, and so does what
a class calls its friend.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuda_gym.judge.toolchains.cuda_on_cpu.declarations import (
    Declaration,
    Kind,
    without_attributes,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.source import IDENTIFIER, Edits

__all__ = ["external_names", "rewrite_linkage"]

_FIXED = ("static", "inline", "__forceinline__", "__inline__", "extern", "constexpr", "template", "__host__",
          "friend", "typedef", "using", "operator")  # fmt: skip
_ON_DEVICE = re.compile(r"\b__(?:global|device|constant)__\b")
_FRIEND = re.compile(
    rf"\bfriend\b[^;{{}}()]*\b__(?:global|device)__\b[^;{{}}()]*?({IDENTIFIER})\s*\("
)
_MEMBER = re.compile(rf"::\s*~?{IDENTIFIER}\s*(?:\(|(?:\[[^\]]*\]\s*)*(?:[=;{{]|$))")


def external_names(found: Sequence[Declaration]) -> frozenset[str]:
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


def rewrite_linkage(own: Sequence[Declaration], external: frozenset[str], edits: Edits) -> None:
    """Make static what a file declares for itself.

    Args:
        own: What the file declares.
        external: What others refer to.
        edits: Where the changes are collected.
    """
    for declaration in own:
        head = declaration.head
        place = _ON_DEVICE.search(head)
        if place is None or declaration.kind in (Kind.MACRO, Kind.CLASS):
            continue
        if any(map(declaration.has, _FIXED)) or declaration.names & external:
            continue
        # Behind one of these it belongs to a lambda, or to a parameter.
        is_specifier = not re.search(r"[=(\[]", without_attributes(head[: place.start()]))
        if is_specifier and not _MEMBER.search(without_attributes(head)):
            edits.insert(declaration.start + place.start(), "static ")
