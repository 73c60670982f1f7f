"""What a file declares at namespace scope, in outline: enough to see who may call whom, by name.

No C++ front end: names are taken as written, overloads share one, and a declaration that is not
understood has no name, which its readers treat as reachable from everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, unique
from functools import cached_property

from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Source, blanked, closing

__all__ = ["Declaration", "Kind", "declarations", "without_attributes"]


@unique
class Kind(Enum):
    """What is declared."""

    FUNCTION = "function"
    """With its body."""
    PROTOTYPE = "prototype"
    """A function without its body, or an explicit instantiation."""
    CLASS = "class"
    """A class, struct, union or enum, with what is in it."""
    OTHER = "other"
    """A variable, an alias, a macro call, a lambda; or something not understood."""
    MACRO = "macro"
    """A #define."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Declaration:
    """One declaration, or one macro."""

    source: Source
    kind: Kind
    names: frozenset[str]
    """What others call it; empty where it has no name that could be mentioned."""
    start: int
    body: int | None
    """Offset behind the opening brace; None where there is no body."""
    end: int
    kernel_words: frozenset[str] = frozenset({"__global__"})
    """What makes it a kernel: macros may stand for `__global__`."""

    @cached_property
    def head(self) -> str:
        """Everything in front of the body, or all of it; masked."""
        return self.source.masked[self.start : self.end if self.body is None else self.body - 1]

    @cached_property
    def mentions(self) -> frozenset[str]:
        """Every identifier in it."""
        return frozenset(re.findall(IDENTIFIER, self.source.masked[self.start : self.end]))

    def has(self, word: str) -> bool:
        """Whether a word stands in its head."""
        return re.search(rf"\b{word}\b", self.head) is not None

    @property
    def is_kernel(self) -> bool:
        """Whether it is a `__global__` function."""
        if self.kind is Kind.MACRO:
            return False
        return not self.kernel_words.isdisjoint(re.findall(IDENTIFIER, self.head))


_LONGEST_LIST = 4000
_STOP = re.compile(r"[;{}(\[]")
_TRANSPARENT = re.compile(r'(?:^|\s)(?:(?:inline\s+)?namespace\b[\w\s:]*|extern\s+"\s*"\s*)$')
_TEMPLATE = re.compile(r"\btemplate\s*<")
_ATTRIBUTE = re.compile(
    r"\b(?:__launch_bounds__|__attribute__|__align__|__maxnreg__|__cluster_dims__|alignas|decltype"
    r"|noexcept|requires|__declspec)\s*\(|\[\["
)
_CLASS = re.compile(rf"\b(?:class|struct|union|enum)\s+(?:class\s+)?({IDENTIFIER})?")
_CALLED = re.compile(rf"((?:{IDENTIFIER}\s*::\s*~?\s*)*{IDENTIFIER})\s*(?:<[^;{{}}()]*>)?\s*\(")
_DEFINE = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({IDENTIFIER})(?:\\\r?\n|[^\n])*", re.MULTILINE)
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        alignas auto bool char class const constexpr double else enum extern float inline int long
        namespace return short signed sizeof size_t static struct template thread_local typedef
        typename union unsigned using void volatile __align__ __attribute__ __constant__ __device__
        __forceinline__ __global__ __host__ __launch_bounds__ __restrict__ __shared__
        """,
    )
)


def without_attributes(text: str) -> str:
    """Masked text with attributes and template parameter lists blanked, offsets kept.

    >>> without_attributes("template <int N> __launch_bounds__(256) void f(int a)").split()
    ['void', 'f(int', 'a)']
    """
    text = blanked(text, _attributes(text))
    return blanked(text, _template_lists(text))


def _attributes(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while match := _ATTRIBUTE.search(text, position):
        position = closing(text, match.end() - 1) + (2 if match.group() == "[[" else 1)
        yield match.start(), position


def _template_lists(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while match := _TEMPLATE.search(text, position):
        position = _closing_angle(text, match.end() - 1) + 1
        yield match.start(), position


def declarations(
    source: Source, kernel_words: frozenset[str] = frozenset({"__global__"})
) -> Iterator[Declaration]:
    """Everything that a file declares outside of functions, and its macros.

    Args:
        source: The file.
        kernel_words: What makes a declaration one of a kernel.
    """
    for match in _DEFINE.finditer(source.masked):
        yield Declaration(
            source=source,
            kind=Kind.MACRO,
            names=frozenset({match.group(1)}),
            start=match.start(),
            body=match.end(1),
            end=match.end(),
        )
    for declaration in _at_namespace_scope(source):
        yield replace(declaration, kernel_words=kernel_words)


def _at_namespace_scope(source: Source) -> Iterator[Declaration]:
    code = source.code
    start = cursor = 0
    while match := _STOP.search(code, cursor):
        at = match.start()
        if match.group() in "([":
            cursor = closing(code, at) + 1
            continue
        if match.group() == "{" and not _TRANSPARENT.search(code[start:at]):
            kind = _kind_with_body(code[start:at])
            end = closing(code, at) + 1
            if kind is not Kind.FUNCTION:
                cursor = end
                if kind is Kind.OTHER:
                    continue
                semicolon = code.find(";", end)
                end = len(code) if semicolon < 0 else semicolon + 1
            yield _declaration(source, kind, start, at + 1, min(end, len(code)))
            start = cursor = end
            continue
        if match.group() == ";":
            yield _declaration(source, _kind_without_body(code[start:at]), start, None, at + 1)
        start = cursor = match.end()
    if code[start:].strip():
        yield _declaration(source, Kind.OTHER, start, None, len(code))


def _kind_with_body(head: str) -> Kind:
    plain = without_attributes(head)
    if re.search(r"\boperator\b", plain):
        return Kind.FUNCTION
    opening = plain.find("(")
    if "=" in (plain if opening < 0 else plain[:opening]):
        return Kind.OTHER
    if opening >= 0:
        return Kind.FUNCTION
    return Kind.CLASS if _CLASS.search(plain) else Kind.OTHER


def _kind_without_body(head: str) -> Kind:
    plain = without_attributes(head)
    opening = plain.find("(")
    is_function = opening >= 0 and "=" not in plain[:opening]
    return Kind.PROTOTYPE if is_function and not plain.lstrip().startswith("using") else Kind.OTHER


def _declaration(source: Source, kind: Kind, start: int, body: int | None, end: int) -> Declaration:
    code = source.code
    start += len(code[start:end]) - len(code[start:end].lstrip())
    head = without_attributes(code[start : end if body is None else body - 1])
    if kind is Kind.CLASS:
        found = _CLASS.search(head)
        words = {found.group(1)} if found and found.group(1) else set()
    elif kind is Kind.OTHER:
        words = set(re.findall(IDENTIFIER, code[start:end]))
    elif re.search(r"\boperator\b", head):
        words = set()
    else:
        # What lies inside parentheses are parameters, and no names.
        words = {
            word
            for qualified in _CALLED.findall(blanked(head, _inside_parentheses(head)))
            for word in re.findall(IDENTIFIER, qualified)
        }
    names = frozenset(words - _NO_NAMES)
    return Declaration(source=source, kind=kind, names=names, start=start, body=body, end=end)


def _inside_parentheses(head: str) -> Iterator[tuple[int, int]]:
    position = 0
    while (opening := head.find("(", position)) >= 0:
        position = max(closing(head, opening), opening + 1)
        yield opening + 1, position


def _closing_angle(text: str, opening: int) -> int:
    depth = 0
    for match in re.compile("[<>]").finditer(text, opening, opening + _LONGEST_LIST):
        depth += 1 if match.group() == "<" else -1
        if depth == 0:
            return match.start()
    return opening
