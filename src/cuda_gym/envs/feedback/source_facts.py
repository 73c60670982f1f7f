"""Facts about an agent's own files that explain a message of a compiler.

Each takes the match of a message, the message with its place, and the files; and gives None where it
has nothing to say.
"""

from __future__ import annotations

import re

from cuda_gym.core.findings import Diagnostic
from cuda_gym.core.task import Submission
from cuda_gym.envs.feedback.braces import find_brace_trouble
from cuda_gym.envs.feedback.excerpts import source_lines
from cuda_gym.judge.toolchains.mangled_names import plain_name
from cuda_gym.judge.verification.cpp_text import mask

__all__ = [
    "brace_of",
    "const_place",
    "line_holds",
    "missing_header",
    "missing_semicolon",
    "missing_template_argument",
    "parameters_of_call",
    "undefined_function",
]

_NO_TENSORS = "kernels/*.cu know no tensors: a launcher takes pointers, numbers and cudaStream_t"
_MAX_PARAMETERS = 200


def missing_semicolon(
    _: re.Match[str], diagnostic: Diagnostic, submission: Submission
) -> str | None:
    """Where it belongs: the compiler points at what comes after the gap."""
    lines = source_lines(submission, diagnostic.file)
    line, column = diagnostic.line or 0, diagnostic.column or 0
    if not 1 < line <= len(lines) or lines[line - 1][: column - 1].strip():
        return None
    before = next((n for n in range(line - 1, 0, -1) if mask(lines[n - 1]).strip()), None)
    return None if before is None else f"a ';' is missing at the end of line {before}"


def brace_of(_: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    """Which brace is missing or too many, with its line."""
    text = submission.text(diagnostic.file or "") or ""
    trouble = find_brace_trouble(text)
    opened = re.search(r"'\{' of line (\d+) is", trouble or "")
    if opened is None:
        return trouble
    return f"{trouble}: {text.splitlines()[int(opened[1]) - 1].strip()[:80]}"


def missing_header(found: re.Match[str], _: Diagnostic, submission: Submission) -> str:
    """Which headers there are."""
    if found["file"].startswith(("torch/", "ATen/", "c10/", "pybind11/")):
        return f"remove the #include; {_NO_TENSORS}"
    own = [path for path in submission.paths if path.endswith((".cuh", ".h", ".hpp"))]
    there = ", ".join(own) if own else "none"
    return (
        f"a submission's own headers lie beside it in kernels/ (there: {there}); write "
        f"{found['file']}, or remove the #include"
    )


def undefined_function(found: re.Match[str], _: Diagnostic, submission: Submission) -> str:
    """Where a function without a body is named."""
    name = plain_name(found["name"] or found["symbol"]).rpartition("::")[2]
    for path in submission.paths:
        for number, line in enumerate(source_lines(submission, path), start=1):
            if path != "model_new.py" and re.search(rf"\b{re.escape(name)}\s*\(", line):
                return f"{path}:{number} names {name}, but no file defines it with these parameters"
    return f"no file defines {name}"


def const_place(found: re.Match[str], diagnostic: Diagnostic, submission: Submission) -> str | None:
    """What is const: named by the message, or at the message's column."""
    place = (
        found.groupdict().get("place")
        or _line(diagnostic, submission)[(diagnostic.column or 1) - 1 :]
    )
    name = re.search(r"\w+", place)
    return None if name is None else f"{name[0]} is const; write through a pointer without const"


def parameters_of_call(
    _: re.Match[str], diagnostic: Diagnostic, submission: Submission
) -> str | None:
    """What the kernel that is launched at the line takes, or else a function that is called there."""
    line = mask(_line(diagnostic, submission))
    launched = re.findall(r"\b(\w+)\s*(?:<[^<>]*>)?\s*<<<", line)
    for name in [*launched, *re.findall(r"\b(\w+)\s*(?:<[^<>]*>)?\s*\(", line)]:
        head = re.compile(rf"[\w>*&]\s+[*&]*{name}\s*\((?P<takes>[^{{}};]*)\)\s*[{{;]")
        for path in submission.paths:
            text = "" if path == "model_new.py" else mask(submission.text(path) or "")
            takes = next((m["takes"] for m in head.finditer(text) if " " in m["takes"].strip()), "")
            if 0 < len(takes) < _MAX_PARAMETERS:
                return f"{name} takes ({' '.join(takes.split())})"
    return None


def missing_template_argument(
    found: re.Match[str], diagnostic: Diagnostic, submission: Submission
) -> str | None:
    """That a template is called without its arguments."""
    name = found["name"]
    line = _line(diagnostic, submission)
    if not re.search(rf"\b{name}\s*\(", line):
        return parameters_of_call(found, diagnostic, submission)
    return f"name what does not follow from the arguments: {name}<...>(...)"


def line_holds(
    pattern: str, hint: str, diagnostic: Diagnostic, submission: Submission
) -> str | None:
    """A hint, where the line of a message is of a form."""
    return hint if re.search(pattern, _line(diagnostic, submission)) else None


def _line(diagnostic: Diagnostic, submission: Submission) -> str:
    lines = source_lines(submission, diagnostic.file)
    number = diagnostic.line or 0
    return lines[number - 1] if 1 <= number <= len(lines) else ""
