"""What CUDA has and the cpu device has not, found before a compiler is started.

Covered: features by name, in code that the preprocessor keeps on this device, each place once with
its line. Not covered: names built by macros; those end as errors of the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError, UnsupportedOnDevice
from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind
from cuda_gym.judge.toolchains.cuda_on_cpu.missing_features import (
    FEATURES,
    HEADERS,
    LEGACY_WARP,
    NESTED_LAUNCH,
)
from cuda_gym.judge.toolchains.cuda_source import Source

__all__ = ["doubtful_places", "refuse_unsupported", "refuse_waiting_kernels"]


_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include|import)\b[ \t]*(?P<what><[^>\n]*>|"[^"\n]*")?', re.MULTILINE
)
_WAITING = (
    "waiting inside a kernel for a grid that it launches",
    "launch what comes behind it from the host",
)
_VERSIONS = {"CUDART_VERSION": 13000, "CUDA_VERSION": 13000, "__CUDACC_VER_MAJOR__": 13}
_VERSION = re.compile(rf"({'|'.join(_VERSIONS)})\s*(<=?|>=?)\s*(\d+)")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b(.*)$", re.MULTILINE)


def refuse_unsupported(sources: Sequence[Source], found: Sequence[Declaration]) -> None:
    """Let pass the submissions that the cpu device can run.

    Raises:
        UnsupportedOnDevice: with one diagnostic for each place.
        CompileError: for an #include that leaves the submission, or a name that is ours.
    """
    _refuse_escaping_includes(sources)
    _refuse_reserved_names(sources)
    places = (*_dynamic_launches(found), *_legacy_warp_operations(sources, found))
    _refuse(*doubtful_places(sources), *_diagnostics(places))


def refuse_waiting_kernels(found: Sequence[Declaration]) -> None:
    """A kernel may launch another one, and not wait for it: CUDA 12 has removed that.

    Raises:
        UnsupportedOnDevice: with one diagnostic for each place.
    """
    waiting = (d for d in found if "cudaDeviceSynchronize" in d.mentions)
    places = _dynamic_launches(waiting)
    _refuse(*_diagnostics((path, line, *_WAITING) for path, line, _, _ in places))


def doubtful_places(sources: Sequence[Source]) -> tuple[Diagnostic, ...]:
    """Where a text names what the device has not; whether that is ever used the compiler knows."""
    return _diagnostics(place for source in sources for place in _places(source))


def _refuse(*diagnostics: Diagnostic) -> None:
    if not diagnostics:
        return
    diagnostics = tuple(sorted(diagnostics, key=lambda d: (d.file or "", d.line or 0)))
    more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
    first = diagnostics[0]
    raise UnsupportedOnDevice(f"{first.file}:{first.line}: {first.message}{more}", diagnostics)


def _diagnostics(places: Iterable[tuple[str, int, str, str]]) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            severity=Severity.ERROR,
            message=f"{name} is not available on the cpu device; {remedy}",
            file=path,
            line=line,
        )
        for path, line, name, remedy in sorted(set(places), key=lambda place: place[:2])
    )


def _places(source: Source) -> Iterator[tuple[str, int, str, str]]:
    kept = _without_dead_branches(source.masked)
    for pattern, feature in FEATURES:
        for match in pattern.finditer(kept):
            yield source.path, source.line(match.start()), feature.name, feature.remedy
    for offset, header in _includes(source, kept):
        for pattern, feature in HEADERS:
            if pattern.search(header):
                name = f"{feature.name} ({header})"
                yield source.path, source.line(offset), name, feature.remedy


def _includes(source: Source, kept: str) -> Iterator[tuple[int, str]]:
    for match in _INCLUDE.finditer(kept):
        if match.group("what"):
            yield (
                match.start(),
                source.text[match.start("what") + 1 : match.end("what") - 1].strip(),
            )
        else:
            yield match.start(), ""


def _dynamic_launches(found: Iterable[Declaration]) -> Iterator[tuple[str, int, str, str]]:
    for declaration in found:
        on_device = declaration.is_kernel or (
            declaration.kind is Kind.FUNCTION
            and declaration.has("__device__")
            and not declaration.has("__host__")
        )
        if not on_device or declaration.body is None:
            continue
        source = declaration.source
        body = source.masked[declaration.body - 1 : declaration.end]
        # A body that is never closed swallows what follows: the compiler says so better.
        if body.count("{") == body.count("}") and "<<<" in body:
            at = source.masked.index("<<<", declaration.body)
            yield source.path, source.line(at), NESTED_LAUNCH.name, NESTED_LAUNCH.remedy


def _legacy_warp_operations(
    sources: Iterable[Source], found: Iterable[Declaration]
) -> Iterator[tuple[str, int, str, str]]:
    """Where a warp operation without a mask is named that the submission does not define itself."""
    own = frozenset().union(*(declaration.names for declaration in found))
    for source in sources:
        for match in LEGACY_WARP.finditer(_without_dead_branches(source.masked)):
            name = match.group()
            if name not in own:
                remedy = f"use {name}_sync, whose first argument is the mask of the lanes in it"
                fact = f"{name}, which is gone since sm_70,"
                yield source.path, source.line(match.start()), fact, remedy


def _refuse_escaping_includes(sources: Sequence[Source]) -> None:
    for source in sources:
        for offset, header in _includes(source, source.masked):
            parts = PurePosixPath(header).parts
            depth = len(PurePosixPath(source.path).parent.parts)
            if header and not header.startswith("/") and parts.count("..") <= depth:
                continue
            fact = f"#include of {header!r}" if header else "an #include of something computed"
            remedy = "include a file of the submission or a header of CUDA or C++"
            raise _not_allowed(source, offset, fact, remedy)


def _refuse_reserved_names(sources: Sequence[Source]) -> None:
    """The runtime's own functions count launches and keep errors: they are not for submissions."""
    for source in sources:
        if match := re.search(r"cuda_on_cpu|CUDA_ON_CPU", source.text):
            fact = f"the name {match.group()!r}"
            raise _not_allowed(
                source, match.start(), fact, "names with it belong to the cpu device"
            )


def _not_allowed(source: Source, offset: int, fact: str, remedy: str) -> CompileError:
    diagnostic = Diagnostic(
        severity=Severity.ERROR,
        message=f"{fact} is not allowed; {remedy}",
        file=source.path,
        line=source.line(offset),
    )
    return CompileError(str(diagnostic), (diagnostic,))


def _without_dead_branches(masked: str) -> str:
    """Blank the branches that `__CUDA_ARCH__` or a literal 0 or 1 switches off on this device."""
    out = list(masked)
    # One entry a level: is this branch dead, and has an earlier one been taken for certain?
    levels: list[tuple[bool, bool]] = []
    num_dead = position = 0
    for match in _CONDITIONAL.finditer(masked):
        if num_dead:
            out[position : match.start()] = re.sub(r"[^\n]", " ", masked[position : match.start()])
        position = match.end()
        word, condition = match.groups()
        if word in ("if", "ifdef", "ifndef"):
            truth = _truth(word, condition)
            levels.append((truth is False, truth is True))
            num_dead += truth is False
        elif levels:
            was_dead, is_decided = levels.pop()
            num_dead -= was_dead
            if word in ("elif", "else"):
                truth = True if word == "else" else _truth("if", condition)
                levels.append((is_decided or truth is False, is_decided or truth is True))
                num_dead += levels[-1][0]
    return "".join(out)


def _truth(word: str, condition: str) -> bool | None:
    """Whether a condition holds on this device; None where that is not known."""
    condition = condition.strip()
    if word in ("ifdef", "ifndef"):
        is_arch = condition == "__CUDA_ARCH__"
        return None if not is_arch else word == "ifndef"
    if condition in ("0", "1"):
        return condition == "1"
    if version := _VERSION.fullmatch(condition):
        ours, sign, asked = _VERSIONS[version[1]], version[2], int(version[3])
        return (ours == asked and "=" in sign) or (ours < asked if "<" in sign else ours > asked)
    if "||" in condition or "!" in condition:
        return None
    terms = [term.strip() for term in condition.split("&&")]
    needs_arch = r"\(?\s*(?:defined\s*\(?\s*__CUDA_ARCH__\s*\)?|__CUDA_ARCH__\s*>=?\s*\d+)\s*\)?"
    return False if any(re.fullmatch(needs_arch, term) for term in terms) else None
