"""Kernels that are also values: pointers with the type that is written, and names that hide others.

A kernel that is only launched has a hidden first parameter, which is fast; one whose name stands
somewhere as a value must have exactly the type that its declaration says, so that
`void (*f)(float*, int) = k` and `run<k>()` mean what they do with nvcc.

By name, from the text: a mistake costs speed (taken for a value, though it is none), or is an error of
the compiler (the reverse); the results are the same either way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Source, closing

__all__ = ["KernelNames", "kernel_names"]

_NOT_A_TYPE = frozenset(
    re.findall(
        r"\w+",
        """
        return else case throw new delete sizeof using typename template goto typedef operator
        co_return co_yield and or not
        """,
    )
)
# The kernel is only asked about; the type of its pointer is deduced.
_ASKED_ABOUT = re.compile(
    r"\b(?:cudaFuncSet\w+|cudaFuncGet\w+|cudaOccupancy\w+)\s*(?:<[^<>;]*>)?\s*\((?P<before>[^;{}]*)$"
)
_CALL = re.compile(rf"({IDENTIFIER})\s*\((?:[^;{{}}()]|\([^;{{}}()]*\))*$")
_LOOK_BACK = 200


@dataclass(frozen=True, kw_only=True)
class KernelNames:
    """What the names of the kernels of a program mean, and where."""

    values: frozenset[str]
    """Kernels that keep the type that is written."""
    hidden: frozenset[str]
    """Kernels with a hidden first parameter."""
    shadows: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]
    """By name and path, where the functions begin and end that have something else of that name."""

    def is_shadowed(self, name: str, source: Source, offset: int) -> bool:
        """Whether a name may be that of a variable or a parameter at this place."""
        return _scope(self.shadows.get((name, source.path), ()), offset) is not None


def kernel_names(
    sources: Sequence[Source], found: Sequence[Declaration], groups: Sequence[frozenset[str]]
) -> KernelNames:
    """Which of the kernels are values somewhere.

    Args:
        sources: All files.
        found: What they declare.
        groups: The names of all kernels; those of one group are declared by the same text.
    """
    kernels: frozenset[str] = frozenset().union(*groups)
    launching = frozenset(
        name
        for d in found
        if d.kind is Kind.MACRO and "<<<" in d.source.masked[d.start : d.end]
        for name in d.names
    )
    values: set[str] = set()
    shadows: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for source in sources:
        scopes = sorted(
            (d.start, d.end) for d in found if d.source is source and d.kind is not Kind.MACRO
        )
        uses = [(*use, _scope(scopes, use[1])) for use in _uses(source, kernels)]
        for name, _, is_shadow, scope in uses:
            if is_shadow and scope is not None:
                shadows[name, source.path].add(scope)
        for name, start, is_shadow, scope in uses:
            is_ours = not is_shadow and scope not in shadows.get((name, source.path), ())
            if is_ours and name not in values and _is_value(source, start, launching):
                values.add(name)
    while more := {n for group in groups if not group.isdisjoint(values) for n in group} - values:
        values |= more
    return KernelNames(
        values=frozenset(values),
        hidden=kernels - values,
        shadows={place: tuple(sorted(spans)) for place, spans in shadows.items()},
    )


def _scope(scopes: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The range that an offset lies in; they are in order and apart from each other."""
    at = bisect_right(scopes, offset, key=lambda scope: scope[0]) - 1
    return scopes[at] if at >= 0 and offset < scopes[at][1] else None


def _uses(source: Source, kernels: frozenset[str]) -> Iterator[tuple[str, int, bool]]:
    """(name, offset, whether it is something else's name) of each use that is no launch."""
    masked = source.masked
    for match in re.finditer(IDENTIFIER, masked):
        name = match.group()
        if name not in kernels or masked.endswith((".", "->"), 0, match.start()):
            continue
        end = _behind_template_arguments(masked, match.end())
        behind = masked[end : end + _LOOK_BACK].replace("\\\n", " ").lstrip()
        if behind.startswith(("<<<", "(")):
            continue
        yield name, match.start(), _is_shadow(masked, match.start(), behind)


def _is_shadow(masked: str, start: int, behind: str) -> bool:
    """Whether what stands around a name makes it that of a variable or a parameter."""
    before = masked[max(0, start - _LOOK_BACK) : start].replace("\\\n", "  ").rstrip()
    if word := re.search(rf"({IDENTIFIER})$", before):
        return word[1] not in _NOT_A_TYPE
    if before.endswith("&") and not before.endswith("&&"):
        return re.search(r"[\w>\])*]\s*&$", before) is not None
    if before.endswith((">", "*")):
        return not before.endswith(">>>")
    return before.endswith(tuple("+-/%|^~")) or behind.startswith(tuple("+-*/%.[&|^"))


def _is_value(source: Source, start: int, launching: frozenset[str]) -> bool:
    masked = source.masked
    first = re.search(
        rf"(?:{IDENTIFIER}\s*::\s*|::\s*)*$", masked[max(0, start - _LOOK_BACK) : start]
    )
    start -= len(first.group()) if first else 0
    before = masked[max(0, start - _LOOK_BACK) : start].replace("\\\n", "  ").rstrip()
    if re.search(
        r"\b(?:using|goto|friend)$|#\s*(?:undef|ifdef|ifndef|define)$|defined\s*\(?$", before
    ):
        return False
    asked = _ASKED_ABOUT.search(before)
    if asked and asked["before"].count("(") <= asked["before"].count(")") + 1:
        return False
    call = _CALL.search(before)
    return not (call and call[1] in launching)


def _behind_template_arguments(masked: str, end: int) -> int:
    """The end of `<...>` behind a name, where there is one that closes on its own statement."""
    opening = re.compile(r"\s*<(?!<)").match(masked, end)
    if opening is None:
        return end
    depth = 1
    position = opening.end()
    while depth and position < min(len(masked), end + 10 * _LOOK_BACK):
        character = masked[position]
        if character in "([":
            position = closing(masked, position)
        elif character in ";{}&|":
            return end
        depth += {"<": 1, ">": -1}.get(character, 0)
        position += 1
    return position if depth == 0 else end
