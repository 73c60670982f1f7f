"""Launches that name no stream: right on their own, wrong among others.

    k<<<blocks, threads>>>(x)             runs on the default stream
    k<<<blocks, threads, 0, stream>>>(x)  runs on the one that the launcher was given

On a GPU the former is outside of the stream in which the caller's work is ordered and timed. A launch
that names any stream is taken to know what it does.

Covered: launches in host functions of `.cu` files. Not covered: launches inside macros, and those by
`cudaLaunchKernel`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_declarations import Declaration, Kind, declarations
from cuda_gym.judge.toolchains.cuda_launches import LaunchText, launches_in
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Source, closing

__all__ = ["stream_warnings"]


def stream_warnings(files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """One warning for each launch without a stream; the last one stands for all that are too many.

    >>> source = 'extern "C" void f(int* x, cudaStream_t s) { k<<<1, 32>>>(x); }'
    >>> print(*stream_warnings({"kernels/a.cu": source}))  # doctest: +ELLIPSIS
    kernels/a.cu:1:45: warning: kernel k is launched on the default ...; write k<<<1, 32, 0, s>>>(...)
    """
    sources = [Source(path, files[path]) for path in sorted(files) if path.endswith(".cu")]
    found = [warning for source in sources for warning in _warnings(source)]
    if len(found) <= _MOST:
        return tuple(found)
    kept, others = found[: _MOST - 1], found[_MOST - 1 :]
    places = ", ".join(f"{warning.file}:{warning.line}" for warning in others[:_MOST_PLACES])
    more = _warning(others[0].file, others[0].line, None, _MORE.format(len(others), places))
    return (*kept, more)


_MOST = 4
_MOST_PLACES = 12
_FACT = "is launched on the default stream, not on the one that is timed and ordered"
_MORE = "{} more launches are on the default stream, likewise: {}"
_DEFAULT_STREAMS = frozenset({"0", "nullptr", "NULL", "cudaStreamDefault", "cudaStreamLegacy"})
_STREAM = re.compile(
    rf"\b(?:cudaStream_t|CUstream)\s+(?:const\s+)?(?P<typed>{IDENTIFIER})"
    r"|\bvoid\s*\*\s*(?P<untyped>stream|cuda_stream)\b"
)
_NAME = re.compile(rf"({IDENTIFIER})\s*\(")


def _warning(file: str | None, line: int | None, column: int | None, message: str) -> Diagnostic:
    return Diagnostic(
        severity=Severity.WARNING, message=message, file=file, line=line, column=column
    )


def _warnings(source: Source) -> Iterator[Diagnostic]:
    hosts = [
        declaration
        for declaration in declarations(source)
        if declaration.kind is Kind.FUNCTION
        and not declaration.is_kernel
        and not declaration.has("__device__")
    ]
    for launch in _readable_launches(source):
        start = launch.callee[0]
        host = next((host for host in hosts if host.start <= start < host.end), None)
        given = _parts(source, *launch.configuration)
        names_a_stream = len(given) > 3 and given[3] not in _DEFAULT_STREAMS
        if host is not None and not names_a_stream:
            yield _warning(
                source.path,
                source.line(start),
                source.column(start),
                _message(source, launch, given, host),
            )


def _readable_launches(source: Source) -> Iterator[LaunchText]:
    """Those up to the first that cannot be read: whether it is one the compiler knows."""
    with contextlib.suppress(CompileError):
        yield from launches_in(source)


def _message(source: Source, launch: LaunchText, given: Sequence[str], host: Declaration) -> str:
    kernel = _one_line(source.text[slice(*launch.callee)])
    own = _STREAM.search(host.head)
    stream = (own["typed"] or own["untyped"]) if own else "stream"
    parts = [*given[:3], *["0"] * (3 - len(given)), stream]
    corrected = f"{kernel}<<<{', '.join(parts)}>>>(...)"
    told = f"kernel {kernel} {_FACT}; write {corrected}"
    if own:
        return told
    name = _NAME.search(host.head)
    function = f"{name[1]}()" if name else "the function"
    return f"{told}, and give {function} a last parameter `cudaStream_t stream`"


def _parts(source: Source, start: int, end: int) -> list[str]:
    """The pieces between commas outside brackets, each on one line."""
    parts, position = [], start
    while position < end:
        character = source.masked[position]
        if character in "([{":
            position = closing(source.masked, position)
        elif character == ",":
            parts.append(_one_line(source.text[start:position]))
            start = position + 1
        position += 1
    return [*parts, _one_line(source.text[start:end])]


def _one_line(text: str) -> str:
    return " ".join(text.replace("\\\n", " ").split())
