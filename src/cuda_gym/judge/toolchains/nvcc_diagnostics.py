"""What nvcc says, in the words of the agent's own files.

Covered: messages of the CUDA front end (with the column, from its caret), of the host compiler, of
ptxas and of the linker. Not covered: what ptxas says of resources (`ptxas`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.function_places import find_functions, short_name
from cuda_gym.judge.toolchains.linker_messages import read_linker_message
from cuda_gym.judge.toolchains.mangled_names import plain_name
from cuda_gym.judge.toolchains.taken_names import explain_taken_name

__all__ = ["parse_nvcc"]

_MAX_DIAGNOSTICS = 30
_MAX_MESSAGE = 600
_FRONT_END = re.compile(
    r"^(?P<path>[^\s(][^(\n]*)\((?P<line>\d+)\): "
    r"(?P<severity>(?:catastrophic |fatal )?error|warning|remark)(?: #(?P<number>\d+)(?:-\w)?)?: "
    r"(?P<message>.*)$"
)
_HOST = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<severity>fatal error|error|warning|note): (?P<message>.*)$"
)
_PTXAS = re.compile(r"^ptxas (?P<severity>error|fatal|warning) *: (?P<message>.*)$")
_ATTRIBUTES = re.compile(r"__attribute__\(\((\w+)\)\)")
_KERNEL = re.compile(r"'(\w+)'")
_SHARED = re.compile(r"too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)")
_LESS_SHARED = (
    "; take smaller tiles, or use extern __shared__ with "
    "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)"
)


def parse_nvcc(
    output: str, files: Mapping[str, str], names: Mapping[str, str] | None = None
) -> tuple[Diagnostic, ...]:
    """The messages of one run, errors first, each once, at most thirty.

    Args:
        output: What nvcc has printed.
        files: The sources by the paths under which nvcc knows them.
        names: Demangled names of kernels, for what ptxas says of them.
    """
    found = list(dict.fromkeys(_read(output.splitlines(), files, names or {})))
    found.sort(key=lambda d: d.severity is not Severity.ERROR)
    return tuple(found[:_MAX_DIAGNOSTICS])


def _read(
    lines: Sequence[str], files: Mapping[str, str], names: Mapping[str, str]
) -> Iterator[Diagnostic]:
    for number, line in enumerate(lines):
        if match := _FRONT_END.match(line):
            yield _of_front_end(match, lines[number + 1 : number + 3], files)
        elif (match := _HOST.match(line)) and match["path"] in files:
            yield Diagnostic(
                severity=_severity(match["severity"]),
                message=_cleaned(match["message"]),
                file=match["path"],
                line=int(match["line"]),
                column=None if match["column"] is None else int(match["column"]),
            )
        elif match := _PTXAS.match(line):
            yield _of_ptxas(match, files, names)
        elif of_linker := read_linker_message(line, files):
            yield replace(of_linker, message=_cleaned(of_linker.message))


def _of_front_end(
    match: re.Match[str], shown: Sequence[str], files: Mapping[str, str]
) -> Diagnostic:
    """A message of the CUDA front end; a place in a header that is not the agent's is left out."""
    is_own = match["path"] in files
    line = int(match["line"])
    return Diagnostic(
        severity=_severity(match["severity"]),
        message=_cleaned(explain_taken_name(match["message"])),
        file=match["path"] if is_own else None,
        line=line if is_own else None,
        column=_column(files[match["path"]], line, shown) if is_own else None,
    )


def _of_ptxas(
    match: re.Match[str], files: Mapping[str, str], names: Mapping[str, str]
) -> Diagnostic:
    """A message of ptxas, at the line of the kernel that it names."""
    symbols = _KERNEL.findall(match["message"])
    message = _KERNEL.sub(lambda found: f"`{_named(found[1], names)}`", match["message"])
    if found := _SHARED.search(message):
        asked, most = (int(number, 16) for number in found.groups())
        message = f"{message}: {asked:,} bytes, and {most:,} are the most{_LESS_SHARED}"
    places = find_functions(files, short_name(_named(symbols[0], names))) if symbols else ()
    return Diagnostic(
        severity=_severity(match["severity"]),
        message=_cleaned(message),
        file=places[0].file if places else None,
        line=places[0].line if places else None,
    )


def _named(symbol: str, names: Mapping[str, str]) -> str:
    return names.get(symbol, plain_name(symbol))


def _column(source: str, line: int, shown: Sequence[str]) -> int | None:
    """The column in the agent's line that the caret points at.

    The line is shown as it is after macros, with tabs made spaces, so what counts is the text from
    the caret on: it is looked for in the agent's own line.
    """
    lines = source.split("\n")
    if len(shown) < 2 or shown[1].strip() != "^" or line > len(lines):
        return None
    own, rest = lines[line - 1], shown[0][len(shown[1]) - 1 :].rstrip()
    for length in range(len(rest), 0, -1):
        places = [m.start() for m in re.finditer(re.escape(rest[:length]), own)]
        if len(places) == 1 or (places and length == len(rest)):
            return places[-1] + 1
    return None


def _severity(word: str) -> Severity:
    return {
        "warning": Severity.WARNING,
        "remark": Severity.WARNING,
        "note": Severity.NOTE,
    }.get(word, Severity.ERROR)


def _cleaned(message: str) -> str:
    message = _ATTRIBUTES.sub(r"__\1__", " ".join(message.split()))
    return message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 3] + "..."
