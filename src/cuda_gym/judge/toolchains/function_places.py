"""Where the functions of a submission's CUDA C++ are defined, and which of them Python cannot find.

Covered: what stands at namespace scope, in namespaces and `extern "C"` blocks too; macros are replaced.
Not covered: members of classes, variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.judge.toolchains.c_linkage import c_heads
from cuda_gym.judge.toolchains.cuda_tokens import (
    Definition,
    Token,
    definitions,
    read_tokens,
    without_attributes,
)
from cuda_gym.judge.toolchains.header_files import headers_of

__all__ = ["FunctionPlace", "extern_c_warnings", "find_functions", "hidden_launchers", "short_name"]

_NO_HOST_FUNCTION = frozenset(
    {"__global__", "__device__", "static", "inline", "template", "class", "struct", "union", "enum"}
)
_LAUNCHES = frozenset({"cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchCooperativeKernel"})


class FunctionPlace(NamedTuple):
    """A definition of a function."""

    name: str
    """Without namespaces."""
    file: str
    line: int
    """Of its name, from 1."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def find_functions(files: Mapping[str, str], name: str) -> tuple[FunctionPlace, ...]:
    """Every definition of a function of this name, by file and line."""
    return tuple(place for _, place in _found(files, (".cu", ".cuh", ".h")) if place.name == name)


def short_name(name: str) -> str:
    """The name alone, without namespaces and template arguments.

    >>> short_name("ns::tiles<128>")
    'tiles'
    """
    return name.partition("<")[0].rpartition("::")[2].strip()


def hidden_launchers(files: Mapping[str, str]) -> tuple[FunctionPlace, ...]:
    """Functions that launch kernels and have no C name, so that Python does not find them.

    >>> source = "void go(float* x, cudaStream_t s) { k<<<1, 32, 0, s>>>(x); }"
    >>> [str(place) for place in hidden_launchers({"kernels/a.cu": source})]
    ['kernels/a.cu:1']
    """
    hidden = []
    for definition, place in _found(files, (".cu",)):
        words = {token.text for token in definition.head}
        is_host = _NO_HOST_FUNCTION.isdisjoint(words)
        if is_host and _launches(definition) and place not in _extern_c_places(files, place.file):
            hidden.append(place)
    return tuple(hidden)


def extern_c_warnings(files: Mapping[str, str], model: str) -> tuple[Diagnostic, ...]:
    """One warning for each function that `model_new.py` calls and that has no C name.

    Args:
        files: Texts of the sources.
        model: Text of `model_new.py`.
    """
    called = set(re.findall(r"\bcuda_extension\s*\.\s*(\w+)", model))
    return tuple(
        Diagnostic(
            severity=Severity.WARNING,
            message=f"{place.name} is a C++ function, so that there is no cuda_extension.{place.name}; "
            'write extern "C" in front of it',
            file=place.file,
            line=place.line,
        )
        for place in (hidden_launchers(files) if called else ())
        if place.name in called
    )


def _found(
    files: Mapping[str, str], suffixes: tuple[str, ...]
) -> Iterator[tuple[Definition, FunctionPlace]]:
    for path in sorted(path for path in files if path.endswith(suffixes)):
        for definition in definitions(read_tokens(files[path])):
            if name := _name(definition.head):
                yield definition, FunctionPlace(name.text, path, name.line)


def _name(head: Sequence[Token]) -> Token | None:
    """The name of a function, given what stands before its body; None where it is none."""
    tokens = without_attributes(head)
    words = [token.text for token in tokens]
    if "(" not in words or "=" in words[: words.index("(")]:
        return None
    at = words.index("(")
    return tokens[at - 1] if at and tokens[at - 1].text.isidentifier() else None


def _extern_c_places(files: Mapping[str, str], path: str) -> set[FunctionPlace]:
    names = (_name(head) for head in c_heads(read_tokens(files[path], headers_of(files))))
    return {FunctionPlace(name.text, path, name.line) for name in names if name}


def _launches(definition: Definition) -> bool:
    words = [token.text for token in definition.body]
    return "<<<" in "".join(words) or not _LAUNCHES.isdisjoint(words)
