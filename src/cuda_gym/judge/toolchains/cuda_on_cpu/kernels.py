"""Kernels in the text: where each is declared, and what its declaration becomes.

    __global__ void k(float* x) { ... }     gets a hidden first parameter, and its indices as constants
    the same, where `k` is also a value     keeps its type, and reads its indices from the runtime
    #define KERNEL __global__ void          makes KERNEL another word for `__global__`

Covered: attributes in any order, templates, declarations inside macros, and macros that declare with or
without the name, the parameters or the body.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuda_gym.judge.toolchains.cuda_declarations import without_attributes
from cuda_gym.judge.toolchains.cuda_on_cpu.captures import capture_indices
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits, Source, closing

__all__ = ["THREAD", "KernelHead", "kernel_heads", "kernel_words", "rewrite_kernels"]

THREAD = "const ::cuda_on_cpu::Thread& cuda_on_cpu_thread"
"""The hidden first parameter of a kernel."""
_LONGEST_HEAD = 2000
_SPACE = r"(?:\s|\\\n)*"
_NAME = re.compile(
    rf"((?:\w+{_SPACE}##{_SPACE})*{IDENTIFIER}(?:{_SPACE}##{_SPACE}\w+)*){_SPACE}(?:<[^;{{}}()]*>)?{_SPACE}\("
)
_AFTER = re.compile(rf"{_SPACE}({IDENTIFIER}){_SPACE}\(")
_BODY = re.compile(rf"{_SPACE}(?:noexcept{_SPACE})?\{{")
_OPENING = re.compile(rf"{_SPACE}\(")
_DEFINE = re.compile(
    rf"^[ \t]*#[ \t]*define[ \t]+(?P<name>{IDENTIFIER})(?P<parameters>\([^()]*\))?"
    r"(?P<text>(?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class KernelHead:
    """One declaration of a kernel, with or without its body."""

    names: frozenset[str]
    """What others call it: a macro declares one kernel each time that it is used."""
    start: int
    """Offset of the word that makes it a kernel."""
    opening: int | None
    """Offset of the parenthesis before its parameters; None where a macro brings them."""
    body: int | None
    """Offset behind the opening brace; None where there is none here."""


def kernel_words(sources: Sequence[Source]) -> frozenset[str]:
    """`__global__`, and every macro that stands for it without declaring a whole kernel."""
    macros = [match for source in sources for match in _DEFINE.finditer(source.masked)]
    words = {"__global__"}
    while more := {
        match["name"]
        for match in macros
        if match["name"] not in words and _is_open_ended(match["text"], words)
    }:
        words |= more
    return frozenset(words)


def _is_open_ended(text: str, words: set[str]) -> bool:
    found = [m for m in re.finditer(IDENTIFIER, text) if m.group() in words]
    return bool(found) and "{" not in text[found[0].end() :] and ";" not in text


def kernel_heads(source: Source, words: frozenset[str]) -> Iterator[KernelHead]:
    """Every declaration of a kernel in a file, those inside macros too."""
    masked = source.masked
    macros = list(_DEFINE.finditer(masked))
    defining = {macro.start("name") for macro in macros}
    for match in re.finditer(IDENTIFIER, masked):
        if match.group() not in words or match.start() in defining:
            continue
        macro = next((m for m in macros if m.start() < match.start() < m.end()), None)
        last = macro.end() if macro else len(masked)
        is_macro = match.group() != "__global__"
        found = _head(masked, match.end(), last, is_macro)
        if found is not None:
            name, opening, body = found
            names = _names_by_macro(masked, macro, name) if macro else frozenset({name} - {""})
            yield KernelHead(names=names, start=match.start(), opening=opening, body=body)


def _head(
    masked: str, end: int, last: int, is_macro: bool
) -> tuple[str, int | None, int | None] | None:
    """Name, parenthesis and body of the kernel behind a word; None where there is no more to it."""
    arguments = ""
    if is_macro and (own := _OPENING.match(masked, end)):
        opening, end = own.end(), closing(masked, own.end() - 1) + 1
        arguments = masked[opening : end - 1]
        if body := _BODY.match(masked, end):
            name = re.search(IDENTIFIER, arguments)
            return name.group() if name else "", None, body.end()
        if parameters := _OPENING.match(masked, end):
            return _with_body(masked, arguments.strip(), parameters.end() - 1)
    stop = re.compile(r"[;{}]").search(masked, end, min(last, end + _LONGEST_HEAD))
    head = masked[end : stop.start() if stop else min(last, end + _LONGEST_HEAD)]
    name = _NAME.search(without_attributes(head))
    if name is None:
        return None
    opening = end + name.end() - 1
    # An attribute by a macro of the file looks like a name: void BOUNDS(256) k(int* x).
    while (after := _AFTER.match(masked, closing(masked, opening) + 1, last)) and after[
        1
    ] != "noexcept":
        name, opening = after, after.end() - 1
    return _with_body(masked, name[1], opening)


def _with_body(masked: str, name: str, opening: int) -> tuple[str, int, int | None]:
    body = _BODY.match(masked, closing(masked, opening) + 1)
    return name, opening, body.end() if body else None


def _names_by_macro(masked: str, macro: re.Match[str], name: str) -> frozenset[str]:
    """The names that the uses of a macro give to its kernel, as `name##_kernel` with `add`."""
    if macro["parameters"] is None:
        return frozenset({name} - {""})
    parameters = [parameter.strip() for parameter in macro["parameters"][1:-1].split(",")]
    names = set()
    for use in re.finditer(rf"\b{macro['name']}\s*\(", masked):
        if not macro.start() <= use.start() < macro.end():
            arguments = masked[use.end() : closing(masked, use.end() - 1)].split(",")
            given = dict(zip(parameters, (a.strip() for a in arguments), strict=False))
            pieces = re.split(r"(?:\s|\\\n)*##(?:\s|\\\n)*", name)
            names.add("".join(given.get(str(piece), str(piece)) for piece in pieces))
    return frozenset(names - {""})


def rewrite_kernels(
    source: Source,
    heads: Iterable[KernelHead],
    values: frozenset[str],
    edits: Edits,
    *,
    cut: Collection[int | None] = (),
) -> None:
    """Give every kernel of a file its hidden parameter and its indices.

    Args:
        source: The file.
        heads: The kernels in it.
        values: The names of those that must keep the type that is written.
        edits: Where the changes are collected.
        cut: Offsets of the bodies that get their indices phase by phase instead.
    """
    for head in heads:
        is_plain = not head.names.isdisjoint(values)
        if head.opening is not None and not is_plain:
            _hide_parameter(source.masked, head.opening, edits)
        if head.body is not None and head.body not in cut:
            place = "_OF_CURRENT" if is_plain else ""
            edits.insert(head.body, f" CUDA_ON_CPU_PROLOGUE{place} ")
            capture_indices(source.masked, head.body, edits)


def _hide_parameter(masked: str, opening: int, edits: Edits) -> None:
    end = closing(masked, opening)
    parameters = masked[opening + 1 : end].strip()
    if parameters == "void":
        edits.replace(opening + 1, end, THREAD)
    elif parameters == "__VA_ARGS__":
        edits.insert(opening + 1, f"{THREAD}, ##")
    else:
        edits.insert(opening + 1, THREAD + (", " if parameters else ""))
