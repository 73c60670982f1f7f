"""Launchers: the `extern "C"` functions through which Python meets compiled kernels.

    extern "C" void scale(float* out, const float* x, int n, cudaStream_t stream)

becomes `cuda_extension.scale(out, x, n)`; the stream is filled in.

Covered: definitions in `.cu` files, alone or in `extern "C" { ... }`, with qualifiers, attributes,
arrays, default values (which are ignored: every argument is passed), object-like macros, conditionals,
other names for types; all of it in headers of the submission, too. Whatever cannot be passed through C
is an error with its line and a remedy.

Not covered: launchers made by function-like macros. What else is wrong with the text is for the
compiler to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuda_gym.core.findings import Diagnostic, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.c_linkage import c_heads
from cuda_gym.judge.toolchains.cuda_parameters import (
    QUALIFIERS,
    Parameter,
    Unreadable,
    parameters_from_plain,
    passed,
    read_parameters,
)
from cuda_gym.judge.toolchains.cuda_tokens import (
    Token,
    read_tokens,
    without_attributes,
)
from cuda_gym.judge.toolchains.cuda_types import INTEGER_BITS, canonical_type
from cuda_gym.judge.toolchains.function_places import hidden_launchers
from cuda_gym.judge.toolchains.header_files import headers_of
from cuda_gym.judge.toolchains.type_aliases import with_plain_types

__all__ = ["Launcher", "parse_launchers"]


@dataclass(frozen=True, kw_only=True)
class Launcher:
    """One `extern "C"` function, as its definition says."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    """`void`, or an integer type or `cudaError_t`: a status, where 0 is success."""
    file: str
    line: int
    """Of the function's name, from 1."""

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """The parameters that Python passes: all but the stream."""
        return passed(self.parameters)

    @property
    def what(self) -> str:
        """What messages call it."""
        return f"launcher {self.name}"

    @property
    def symbol(self) -> str:
        """Its name in the compiled library."""
        return self.name

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Launcher:
        """The launcher of which `as_plain` made these dicts and lists."""
        return cls(**{**plain, "parameters": parameters_from_plain(plain["parameters"])})


def parse_launchers(files: Mapping[str, str], *, required: bool = True) -> tuple[Launcher, ...]:
    """Every launcher of the `.cu` files, in the order of paths and lines.

    Args:
        files: Texts by path, those of headers among them.
        required: Whether there has to be one.

    >>> source = 'extern "C" void fill(float* out, int n, cudaStream_t stream) {}'
    >>> [str(launcher) for launcher in parse_launchers({"kernels/fill.cu": source})]
    ['fill(float* out, int n)']

    Raises:
        CompileError: no launcher where one is required, two of one name, or one that Python cannot
            call.
    """
    launchers: dict[str, Launcher] = {}
    errors: list[Diagnostic] = []
    headers = headers_of(files)
    for path in sorted(path for path in files if path.endswith(".cu")):
        for head in c_heads(with_plain_types(read_tokens(files[path], headers))):
            try:
                launcher = _read_launcher(head, path)
                if launcher is not None and launcher.name in launchers:
                    first = launchers[launcher.name]
                    raise Unreadable(
                        f"launcher {launcher.name!r} is already defined at {first.file}:{first.line}; "
                        "rename one of the two",
                        launcher.line,
                    )
            except Unreadable as problem:
                errors.append(_error(problem.message, path, problem.line))
            else:
                if launcher is not None:
                    launchers[launcher.name] = launcher
    if required and not errors and not launchers:
        hidden = hidden_launchers(files)
        errors += [_error(_NOT_C.format(place.name), place.file, place.line) for place in hidden]
        errors += [
            _error(_IN_MACRO.format(found["name"]), path, text.count("\n", 0, found.start()) + 1)
            for path, text in sorted(files.items())
            if path.endswith(".cu") and (found := _MAKES_LAUNCHERS.search(text))
        ]
        errors = errors or [_error(_NO_LAUNCHER)]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise CompileError(f"{errors[0]}{more}", tuple(errors))
    return tuple(launchers.values())


_NOT_C = (
    'function {!r} is a C++ function, which Python cannot find; write extern "C" in front of it'
)
_IN_MACRO = (
    "macro {!r} makes launchers, which are not found in there; let it make the kernels, and write out "
    'each extern "C" function behind it'
)
_MAKES_LAUNCHERS = re.compile(
    r'^[^\S\n]*#[^\S\n]*define[^\S\n]+(?P<name>\w+)\((?:[^\\\n]|\\.){0,300}?\bextern[^\S\n]+"C"',
    re.MULTILINE | re.DOTALL,
)
_NO_LAUNCHER = (
    "no launcher in the .cu files; Python calls kernels through one, for example: "
    'extern "C" void name(float* out, const float* x, int n, cudaStream_t stream) '
    "{ my_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n); }; or model_new.py launches a "
    '__global__ function itself: cuda_extension.kernel("my_kernel")[(n + 255) // 256, 256](out, x, n)'
)
_STATUS_TYPES = frozenset({*INTEGER_BITS, "void", "cudaError_t"})
_RESERVED = frozenset({"library", "kernel"})
_NO_LAUNCHERS = frozenset(
    {"static", "inline", "__inline__", "__forceinline__", "__global__", "__device__", "typedef"}
)


def _error(message: str, file: str | None = None, line: int | None = None) -> Diagnostic:
    return Diagnostic(severity=Severity.ERROR, message=message, file=file, line=line)


def _read_launcher(head: Sequence[Token], file: str) -> Launcher | None:
    """The launcher whose definition starts like this; None where it is something else."""
    head = without_attributes(head)
    words = [token.text for token in head]
    if "(" not in words:
        return None
    at = words.index("(")
    if "=" in words[:at] or _NO_LAUNCHERS.intersection(words[:at]) or not at:
        return None
    name = head[at - 1]
    if name.text in _RESERVED:
        raise Unreadable(
            f"launcher {name.text!r} has a name that cuda_extension itself uses; rename it",
            name.line,
        )
    returns = canonical_type([word for word in words[: at - 1] if word not in QUALIFIERS])
    if returns not in _STATUS_TYPES:
        found = " ".join(words[: at - 1]) or "nothing"
        raise Unreadable(
            f"launcher {name.text!r} returns {found!r}; return void, or int as a status "
            "(0 is success), and write results through a pointer",
            name.line,
        )
    parameters = read_parameters(head, at, owner="launcher")
    return Launcher(
        name=name.text, parameters=parameters, returns=returns, file=file, line=name.line
    )
