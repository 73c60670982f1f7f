"""What g++ or clang++ says, in the words of the agent's own files.

Covered: columns of the text as the agent wrote it, duplicates, what headers of ours or of C++ say
(told at the line of the agent that led there, or not at all), our own names. Not covered: messages
in another language; the compiler is run with LC_ALL=C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.cuda_source import Rewritten
from cuda_gym.judge.toolchains.taken_names import explain_taken_name

__all__ = ["parse_diagnostics"]

_MAX_DIAGNOSTICS = 30
_MAX_MESSAGE = 600

_MESSAGE = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)?\s+"
    r"(?P<severity>fatal error|error|warning|note|sorry, unimplemented):\s+(?P<message>.*)$"
)
_PLACE = re.compile(
    r"^(?:In file included from |\s+from )?(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)?"
    r"\s*(?:required from|in expansion of macro|instantiated from)?"
)
_LINKER = re.compile(r"(?P<message>(?:undefined reference to|multiple definition of) [`'][^`']+')")
_OURS = (
    (re.compile(r"const (?:::)?cuda_on_cpu::Thread ?&(?: cuda_on_cpu_thread)?(?:, ?)?"), ""),
    (re.compile(r"(?:::)?cuda_on_cpu::Thread(?: ?&)?(?:, ?)?"), ""),
    (re.compile(r"<lambda\([^()]*auto:\d+[^()]*\)>(?: mutable)?"), "the launch"),
    (re.compile(r"(?:::)?cuda_on_cpu::(?:Index|Extent)\b"), "dim3"),
    (re.compile(r"(?:::)?cuda_on_cpu::"), ""),
    (re.compile(r"cuda_on_cpu_arguments#?\d*"), "argument"),
    (re.compile(r"CUDA_ON_CPU_\w+|cuda_on_cpu_\w+"), "launch"),
    (re.compile(r"std::__cxx11::basic_string<char>"), "std::string"),
    (re.compile(r"std::__(?:cxx11|1)::"), "std::"),
    (re.compile(r" \{aka [^{}]*\}"), ""),
    # GCC shows the address that it computes for x[i].
    (
        re.compile(r"\*\((\w+) \+ \(\(sizetype\)\(\(\(long unsigned int\)(.+?)\) \* \d+\)\)\)"),
        r"\1[\2]",
    ),
)
_EXPLAINED = (
    (
        re.compile(r"call to '(?:::)?(?:cuda_on_cpu::)?Configuration::Configuration\("),
        "a launch takes two to four values: kernel<<<grid, block, shared bytes, stream>>>(...)",
    ),
    (
        re.compile(r"reference of type 'const cuda_on_cpu::Thread ?&'"),
        "a __global__ function is launched with <<<grid, block>>>, not called",
    ),
    (
        re.compile(
            r"cuda_on_cpu::Thread.*\(\*\)|\(\*\).*cuda_on_cpu::Thread|from 'const cuda_on_cpu::Thread'"
            r"|convert 'const cuda_on_cpu::Thread'"
        ),
        "a pointer to a kernel has a type of its own on the cpu device; declare it with auto",
    ),
)
_Place = tuple[str, int, int | None]
"""File, line and column."""
_OUR_NAMES = re.compile(r"cuda_on_cpu|CUDA_ON_CPU")


def parse_diagnostics(output: str, files: Mapping[str, Rewritten]) -> tuple[Diagnostic, ...]:
    """The messages of one compiler run, errors first, each once, at most thirty."""
    found = list(dict.fromkeys(_read(output.splitlines(), files)))
    is_error = [d.severity is Severity.ERROR for d in found]
    # A note belongs to the message before it, so both move together.
    groups: list[list[Diagnostic]] = []
    for diagnostic in found:
        if diagnostic.severity is Severity.NOTE and groups:
            groups[-1].append(diagnostic)
        elif diagnostic.severity is not Severity.NOTE:
            groups.append([diagnostic])
    if any(is_error):
        groups.sort(key=lambda group: group[0].severity is not Severity.ERROR)
    return tuple(diagnostic for group in groups for diagnostic in group)[:_MAX_DIAGNOSTICS]


def _read(lines: Iterable[str], files: Mapping[str, Rewritten]) -> Iterator[Diagnostic]:
    led_here: _Place | None = None
    is_instantiated = is_last_shown = False
    for line in lines:
        match = _MESSAGE.match(line)
        if match is None:
            if linker := _LINKER.search(line):
                yield Diagnostic(severity=Severity.ERROR, message=_cleaned(linker["message"]))
            elif (place := _place(_PLACE.match(line), files)) is not None:
                led_here, is_instantiated = place, "required from" in line
            continue
        severity = _severity(match["severity"])
        place = _place(match, files)
        is_note = severity is Severity.NOTE
        if is_note and (not is_last_shown or place is None or _OUR_NAMES.search(match["message"])):
            continue
        if place is None and severity is Severity.ERROR:
            place = led_here
        is_last_shown = place is not None or severity is Severity.ERROR
        if is_last_shown:
            yield _diagnostic(severity, match["message"], place)
            if is_instantiated and not is_note and led_here != place:
                yield _diagnostic(Severity.NOTE, "the template is instantiated here", led_here)
        if not is_note:
            led_here, is_instantiated = None, False


def _diagnostic(severity: Severity, message: str, place: _Place | None) -> Diagnostic:
    path, line, column = place or (None, None, None)
    return Diagnostic(
        severity=severity, message=_cleaned(message), file=path, line=line, column=column
    )


def _severity(word: str) -> Severity:
    return {"warning": Severity.WARNING, "note": Severity.NOTE}.get(word, Severity.ERROR)


def _place(match: re.Match[str] | None, files: Mapping[str, Rewritten]) -> _Place | None:
    """The place in the agent's file; None where it is in a header of ours or of the system."""
    if match is None or match["path"] not in files:
        return None
    line = int(match["line"])
    if match["column"] is None:
        return match["path"], line, None
    return match["path"], line, files[match["path"]].original_column(line, int(match["column"]))


def _cleaned(message: str) -> str:
    for pattern, explanation in _EXPLAINED:
        if pattern.search(message):
            return explanation
    for pattern, replacement in _OURS:
        message = pattern.sub(replacement, message)
    message = explain_taken_name(" ".join(message.split()))
    return message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 3] + "..."
