"""What has to be compiled for a submission that brings its own bindings: one module or several.

    folder    kernels/*_binding.cpp with REGISTER_BINDING, kernels/*.cu: the module cuda_extension
    inline    each call of load_inline in model_new.py: a module of that name

Covered: both published formats as they are written. A folder without binding.cpp and
binding_registry.h gets ours. Not covered: extensions that register operators (TORCH_LIBRARY) and are
called through torch.ops.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.core.task import Submission
from cuda_gym.judge.toolchains.cuda_source import Source
from cuda_gym.judge.toolchains.extension_flags import allowed_flags
from cuda_gym.judge.toolchains.inline_calls import loader_calls, loads_inline, parse_model
from cuda_gym.judge.toolchains.inline_sources import (
    InlineExtension,
    Piece,
    find_inline_extensions,
)
from cuda_gym.judge.toolchains.kernel_files import check_sources

__all__ = [
    "FIXED_FILES",
    "FOLDER_MODULE",
    "ExtensionSources",
    "binding_place",
    "has_bindings",
    "read_extensions",
]

FOLDER_MODULE = "cuda_extension"
FIXED_FILES = ("binding.cpp", "binding_registry.h")
"""Files of the published folder beside kernels/; a submission may leave them out."""

_OURS = Path(__file__).parent / "torch_extension"
_SUFFIXES = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".hh", ".inl", ".inc")
_UNITS = (".cu", ".cpp", ".cc")
_BINDS = re.compile(r"\bREGISTER_BINDING\s*\(|\bPYBIND11_MODULE\s*\(|#\s*include\s*[<\"]torch/")
_MODEL = "model_new.py"
_PUBLISHED_FLAGS = ("-O3", "--use_fast_math")
"""As the published folder compiles its kernels."""


@dataclass(frozen=True, kw_only=True)
class ExtensionSources:
    """One module that Python imports, before it is compiled."""

    name: str
    files: Mapping[str, str]
    """Texts by path, in a folder of their own."""
    units: tuple[str, ...]
    """The files that are compiled; the others are included."""
    cpp_flags: tuple[str, ...] = ()
    cuda_flags: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=())


def has_bindings(submission: Submission) -> bool:
    """Whether a submission makes its own module for Python, in either format."""
    return binding_place(submission) is not None


def binding_place(submission: Submission) -> tuple[str, int] | None:
    """File and line that make it such a submission; None where it is none."""
    for path, text in submission.files:
        if path.startswith("kernels/") and path.endswith(_UNITS):
            unit = Source(path, text)
            places = (found.start() for found in _BINDS.finditer(text))
            # In a comment or a string it is blanked.
            if at := next((at + 1 for at in places if unit.masked[at] == text[at]), 0):
                return path, unit.line(at - 1)
    source = submission.text(_MODEL) or ""
    if loads_inline(source):
        first, _ = next(loader_calls(parse_model(source)))
        return _MODEL, first.lineno
    return None


def read_extensions(submission: Submission) -> tuple[ExtensionSources, ...]:
    """The modules of a submission that has bindings.

    Raises:
        CompileError: the sources cannot be found, or are no sources.
    """
    source = submission.text(_MODEL) or ""
    calls = find_inline_extensions(source)
    if not calls:
        return (_of_folder(submission),)
    texts = [piece.text for call in calls for piece in (*call.cpp, *call.cuda)]
    check_sources({f"source_{number}": text for number, text in enumerate(texts)})
    names: list[str] = []
    for call in calls:
        again = names.count(call.name)
        names.append(call.name)
        if again:
            names[-1] = f"{call.name}_v{again}"
    return tuple(_of_call(call, name, source) for call, name in zip(calls, names, strict=True))


def _of_folder(submission: Submission) -> ExtensionSources:
    files = {
        path: text
        for path, text in submission.files
        if path.startswith("kernels/") and path.endswith(_SUFFIXES)
    }
    for name in FIXED_FILES:
        files[name] = submission.text(name) or (_OURS / name).read_text("utf-8")
    check_sources(files)
    return ExtensionSources(
        name=FOLDER_MODULE,
        files=files,
        units=tuple(path for path in files if path.endswith(_UNITS)),
        cuda_flags=_PUBLISHED_FLAGS,
    )


def _of_call(call: InlineExtension, name: str, source: str) -> ExtensionSources:
    cpp, cpp_left_out = allowed_flags(call.cpp_flags)
    cuda, cuda_left_out = allowed_flags(call.cuda_flags)
    left_out = [*cpp_left_out, *cuda_left_out, *call.ignored]
    files = {f"{name}/main.cpp": _main(call), _MODEL: source}
    units = [f"{name}/main.cpp"]
    if call.cuda:
        headers = ["torch/types.h", "cuda.h", "cuda_runtime.h"] if call.implicit_headers else []
        files[f"{name}/cuda.cu"] = _joined(headers, call.cuda, f"{name}/cuda.cu")
        units.append(f"{name}/cuda.cu")
    message = f"load_inline is compiled without {', '.join(left_out)}: they are not for a submission to choose"
    return ExtensionSources(
        name=name,
        files=files,
        units=tuple(units),
        cpp_flags=cpp,
        cuda_flags=cuda,
        warnings=(
            Diagnostic(severity=Severity.WARNING, message=message, file=_MODEL, line=call.line),
        )
        if left_out
        else (),
    )


def _main(call: InlineExtension) -> str:
    """The C++ sources, with the module that makes the named functions known."""
    headers = ["torch/extension.h"] if call.implicit_headers else []
    text = _joined(headers, call.cpp, "main.cpp")
    if call.functions is None:
        return text
    wrap = "torch::wrap_pybind_function({})" if call.translates_errors else "{}"
    lines = [f'    module.def("{name}", {wrap.format(name)}, "{name}");' for name in call.functions]
    return "\n".join(
        [text, '#line 1 "module.cpp"', "PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {", *lines, "}", ""]
    )  # fmt: skip


def _joined(headers: Sequence[str], pieces: Sequence[Piece], path: str) -> str:
    """Texts one after the other, each under the lines of `model_new.py` where it has some there."""
    lines = [f"#include <{header}>" for header in headers]
    for piece in pieces:
        where = (1, path) if piece.line is None else (piece.line, _MODEL)
        lines += [f'#line {where[0]} "{where[1]}"', piece.text]
    return "\n".join([*lines, ""])
