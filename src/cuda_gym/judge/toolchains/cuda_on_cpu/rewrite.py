"""CUDA C++ to C++: only what the C++ grammar cannot take is rewritten, and every line stays a line.

    __global__ void k(float* x) { ... }     gets a hidden first parameter and its indices as constants
    k<<<grid, block, bytes, stream>>>(x)    becomes a call of cuda_on_cpu::launch
    extern __shared__ float s[];            becomes a pointer to the block's dynamic memory
    __device__ float f(float x) { ... }     becomes static, as nvcc keeps it to its file
    static __shared__, __noinline__         lose what the host compiler would stumble over

Covered: templates, macros, several files with their local headers. Not covered: kernels as typed
function pointers, kernels in classes, braced initialisers as kernel arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuda_gym.core import Diagnostic, Severity
from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.cuda_on_cpu.barriers import Mode, Modes, modes
from cuda_gym.judge.toolchains.cuda_on_cpu.declarations import (
    Declaration,
    Kind,
    declarations,
    without_attributes,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.refusals import (
    doubtful_places,
    refuse_dynamic_launches,
    refuse_unsupported,
)
from cuda_gym.judge.toolchains.cuda_on_cpu.source import (
    IDENTIFIER,
    Edits,
    Rewritten,
    Source,
    closing,
)

__all__ = ["Program", "rewrite"]

_LONGEST_HEAD = 2000
_SPACE = r"(?:\s|\\\n)*"
_KERNEL_NAME = re.compile(rf"({IDENTIFIER})\s*(?:<[^;{{}}()]*>)?\s*\(")
_KERNEL_BODY = re.compile(rf"{_SPACE}(?:noexcept{_SPACE})?\{{")
_DYNAMIC_SHARED = re.compile(
    rf"\bextern\s+(?:volatile\s+)?__shared__\s+(?P<type>[^;\[\]{{}}]*?)\b(?P<name>{IDENTIFIER})\s*"
    r"\[\s*\](?P<dimensions>(?:\s*\[[^\[\];]*\])*)\s*;"
)
_ALIGNMENT = re.compile(r"\b(?:__align__|alignas)\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\)")
_SHARED = re.compile(r"\b(?P<static>static\s+)?__shared__(?P<alignment>\s+alignas\s*\([^()]*\))?")
_KERNEL = re.compile(rf"\s*(?:::)?\s*(?:{IDENTIFIER}\s*::\s*)*({IDENTIFIER}(?:\s*##\s*\w+)*)")
_THREAD = "const ::cuda_on_cpu::Thread& cuda_on_cpu_thread"
_FIXED_LINKAGE = ("static", "inline", "__forceinline__", "__inline__", "extern", "constexpr", "template", "__host__",
                  "friend", "typedef", "using", "operator")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Program:
    """All files of a submission, ready for a host compiler."""

    files: Mapping[str, Rewritten]
    """By path inside the workspace."""
    kernels: Mapping[str, Mode]
    """Each `__global__` function, and how its threads are run."""
    reaches: Mapping[str, frozenset[str]]
    """The names that each kernel mentions, and those that these mention, and so on."""
    keeps_index: bool
    """Whether functions other than kernels read `threadIdx`."""
    doubtful: tuple[Diagnostic, ...] = ()
    """Where something is named that this device has not; the compiler knows whether it is used."""


def rewrite(files: Mapping[str, str], *, is_submission: bool = True) -> Program:
    """Rewrite `.cu` files and the headers that they include.

    Args:
        files: The texts, by path.
        is_submission: Whether what is named but missing here is refused at once, as are includes of
            other files. A program of somebody's own may name it in a header that it hardly uses.

    Raises:
        UnsupportedOnDevice: for what the cpu device does not have.
        CompileError: where a launch cannot be read.
    """
    sources = [Source(path, text) for path, text in files.items()]
    found = [declaration for source in sources for declaration in declarations(source)]
    if is_submission:
        refuse_unsupported(sources, found)
    else:
        refuse_dynamic_launches(found)
    decided = modes(found)
    pointers = _dynamic_shared_at_namespace_scope(found)
    external = _external_names(found)
    rewritten = {}
    for source in sources:
        own = [d for d in found if d.source is source]
        edits = Edits(source)
        _rewrite_kernels(source, edits)
        _rewrite_linkage(own, external, edits)
        _rewrite_shared(source, own, pointers, edits)
        _rewrite_launches(source, decided, edits)
        for match in re.finditer(r"\b__noinline__\b", source.masked):
            edits.replace(*match.span(), "__attribute__((noinline))")
        rewritten[source.path] = edits.apply()
    kernels = _kernels(found)
    return Program(
        files=rewritten,
        kernels={name: decided.of(name) for name in kernels},
        reaches=_reached_names(found, kernels),
        keeps_index=decided.keeps_index,
        doubtful=() if is_submission else doubtful_places(sources),
    )


def _kernels(found: Sequence[Declaration]) -> dict[str, Declaration]:
    kernels = {}
    for declaration in found:
        if declaration.is_kernel and declaration.kind is Kind.FUNCTION:
            behind = without_attributes(declaration.head.split("__global__", 1)[1])
            if name := _KERNEL_NAME.search(behind):
                kernels[name[1]] = declaration
    return kernels


def _reached_names(
    found: Sequence[Declaration], kernels: Mapping[str, Declaration]
) -> dict[str, frozenset[str]]:
    mentions: dict[str, frozenset[str]] = {}
    for declaration in found:
        for name in declaration.names:
            mentions[name] = mentions.get(name, frozenset()) | declaration.mentions
    reaches = {}
    for name, kernel in kernels.items():
        reached: set[str] = set()
        pending = set(kernel.mentions)
        while pending:
            word = pending.pop()
            reached.add(word)
            pending |= mentions.get(word, frozenset()) - reached
        reaches[name] = frozenset(reached & mentions.keys())
    return reaches


def _rewrite_kernels(source: Source, edits: Edits) -> None:
    masked = source.masked
    for match in re.finditer(r"\b__global__\b", masked):
        stop = re.compile(r"[;{}]").search(masked, match.end(), match.end() + _LONGEST_HEAD)
        head = masked[match.end() : stop.start() if stop else match.end() + _LONGEST_HEAD]
        name = _KERNEL_NAME.search(without_attributes(head))
        if name is None:
            continue
        opening = match.end() + name.end() - 1
        end = closing(masked, opening)
        parameters = masked[opening + 1 : end].strip()
        if parameters == "void":
            edits.replace(opening + 1, end, _THREAD)
        else:
            edits.insert(opening + 1, _THREAD + (", " if parameters else ""))
        if body := _KERNEL_BODY.match(masked, end + 1):
            edits.insert(body.end(), " CUDA_ON_CPU_PROLOGUE ")


def _external_names(found: Sequence[Declaration]) -> frozenset[str]:
    """Functions and variables that a file declares and another one defines."""
    defined = {(d.source.path, name) for d in found if d.kind is Kind.FUNCTION for name in d.names}
    return frozenset(
        name
        for d in found
        if d.kind is Kind.PROTOTYPE or (d.kind is Kind.OTHER and d.has("extern"))
        for name in d.names
        if (d.source.path, name) not in defined
    )


def _rewrite_linkage(own: Sequence[Declaration], external: frozenset[str], edits: Edits) -> None:
    for declaration in own:
        head = declaration.head
        place = re.search(r"\b__(?:global|device|constant)__\b", head)
        if place is None or declaration.kind in (Kind.MACRO, Kind.CLASS):
            continue
        is_member = re.search(rf"::\s*~?{IDENTIFIER}\s*\(", without_attributes(head)) is not None
        if is_member or any(map(declaration.has, _FIXED_LINKAGE)) or declaration.names & external:
            continue
        edits.insert(declaration.start + place.start(), "static ")


def _dynamic_shared_at_namespace_scope(found: Sequence[Declaration]) -> dict[str, str]:
    """The declarations that take the place of each, by name: one in every function that uses it."""
    pointers = {}
    for declaration in found:
        if declaration.kind is Kind.OTHER and (match := _DYNAMIC_SHARED.match(declaration.head)):
            pointers[match["name"]] = _pointer(match)
    return pointers


def _pointer(match: re.Match[str]) -> str:
    name, dimensions = match["name"], match["dimensions"].strip()
    scalar = " ".join(_ALIGNMENT.sub("", match["type"]).split())
    declarator = f"(* const {name}){dimensions}" if dimensions else f"* const {name}"
    cast = f"{scalar} (*){dimensions}" if dimensions else f"{scalar}*"
    return f"{scalar} {declarator} = ({cast})cuda_on_cpu_dynamic_shared;"


def _rewrite_shared(
    source: Source, own: Sequence[Declaration], pointers: Mapping[str, str], edits: Edits
) -> None:
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
        if match["static"] or match["alignment"]:
            alignment = (match["alignment"] or "").strip()
            edits.replace(*match.span(), f"{alignment} __shared__".strip())


def _rewrite_launches(source: Source, decided: Modes, edits: Edits) -> None:
    masked = source.masked
    position = 0
    while (opening := masked.find("<<<", position)) >= 0:
        end = masked.find(">>>", opening)
        if end < 0:
            raise _unreadable(source, opening, "<<< without >>>")
        arguments = re.compile(rf"{_SPACE}\(").match(masked, end + 3)
        if arguments is None:
            raise _unreadable(source, opening, "a launch without its list of arguments after >>>")
        start, stop = _callee(masked, opening)
        words = _KERNEL.match(masked[start:stop])
        if words is None:
            raise _unreadable(source, opening, "no name of a kernel in front of <<<")
        kernel, callee = words.group(1), " ".join(source.text[start:stop].split())
        last = closing(masked, arguments.end() - 1)
        has_arguments = bool(masked[arguments.end() : last].strip())
        if re.search(r"(?:^|,)\s*\{", _outer(masked[arguments.end() : last])):
            raise _braced(source, arguments.end())
        edits.replace(
            start,
            opening + 3,
            f"::cuda_on_cpu::launch<::cuda_on_cpu::Mode::{decided.of(kernel).value}>"
            f"(CUDA_ON_CPU_TEXT({kernel}), ::cuda_on_cpu::Configuration(",
        )
        edits.replace(
            end,
            arguments.end(),
            f"), [&]({_THREAD}, auto... cuda_on_cpu_arguments) __attribute__((always_inline)) "
            f"{{ {callee}(cuda_on_cpu_thread, cuda_on_cpu_arguments...); }}"
            + (", " if has_arguments else ""),
            stands_for=start,
        )
        for null in re.compile(r"\bNULL\b").finditer(masked, arguments.end(), last):
            edits.replace(*null.span(), "nullptr")
        position = end + 3


def _callee(masked: str, opening: int) -> tuple[int, int]:
    """Where the name of the kernel in front of <<< begins and ends, template arguments included."""
    first = max(0, opening - _LONGEST_HEAD)
    before = masked[first:opening].replace("\\\n", " \n").rstrip()
    stop = len(before)
    start = stop
    if before[:stop].endswith(">"):
        depth = 0
        while start > 0:
            start -= 1
            depth += {">": 1, "<": -1}.get(before[start], 0)
            if depth == 0:
                break
        start = len(before[:start].rstrip())
    name = re.search(rf"(?:(?:\w|::)+{_SPACE}##{_SPACE})*(?:\w|::)*$", before[:start])
    return first + (name.start() if name else start), first + stop


def _outer(arguments: str) -> str:
    """The arguments without what is inside brackets, so that commas and braces are the launch's."""
    out = []
    position = 0
    for match in re.finditer(r"[(\[{]", arguments):
        if match.start() >= position:
            out.append(arguments[position : match.end()])
            position = closing(arguments, match.start())
    return "".join((*out, arguments[position:]))


def _braced(source: Source, offset: int) -> UnsupportedOnDevice:
    diagnostic = Diagnostic(
        severity=Severity.ERROR,
        message="a braced list as an argument of a launch is not available on the cpu device; "
        "name its type, as in float2{1, 2}",
        file=source.path,
        line=source.line(offset),
        column=source.column(offset),
    )
    return UnsupportedOnDevice(str(diagnostic), (diagnostic,))


def _unreadable(source: Source, offset: int, what: str) -> CompileError:
    diagnostic = Diagnostic(
        severity=Severity.ERROR,
        message=f"{what}; a launch is kernel<<<grid, block, shared_bytes, stream>>>(arguments)",
        file=source.path,
        line=source.line(offset),
        column=source.column(offset),
    )
    return CompileError(str(diagnostic), (diagnostic,))
