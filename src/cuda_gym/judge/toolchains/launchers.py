"""Launchers: the `extern "C"` functions through which Python meets compiled kernels.

    extern "C" void scale(float* out, const float* x, int n, cudaStream_t stream)

becomes `cuda_extension.scale(out, x, n)`; the stream is filled in.

Covered: definitions in `.cu` files, alone or in `extern "C" { ... }`, with qualifiers, attributes,
arrays, default values (which are ignored: every argument is passed), object-like macros and
conditionals. Whatever cannot be passed through C is an error with its line and a remedy.

Not covered: launchers made by function-like macros, types made by `typedef` or `using`, and
definitions in `#include`d files. What else is wrong with the text is for the compiler to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from cuda_gym.core import Diagnostic, Severity
from cuda_gym.errors import CompileError
from cuda_gym.judge.toolchains.cuda_tokens import (
    Token,
    after_group,
    extern_c_heads,
    read_tokens,
    split_at_commas,
    without_attributes,
)
from cuda_gym.judge.toolchains.cuda_types import (
    INTEGER_BITS,
    SCALAR_TYPES,
    STREAM_TYPE,
    TYPE_WORDS,
    VALUE_TYPES,
    canonical_type,
)

__all__ = ["Launcher", "Parameter", "ParameterKind", "parse_launchers"]


@unique
class ParameterKind(Enum):
    """What Python passes for a parameter."""

    POINTER = "pointer"
    """A tensor, or None."""
    SCALAR = "scalar"
    """A number."""
    STREAM = "stream"
    """Nothing: it is filled in."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a launcher."""

    name: str
    kind: ParameterKind
    type: str
    """Of the value or the element: one name of `cuda_types`, `void` only behind a pointer."""
    const: bool = False
    """Whether the launcher promises not to write through the pointer."""

    def __str__(self) -> str:
        star = "*" if self.kind is ParameterKind.POINTER else ""
        return f"{'const ' if self.const else ''}{self.type}{star} {self.name}"


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
        return tuple(p for p in self.parameters if p.kind is not ParameterKind.STREAM)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Launcher:
        """The launcher of which `as_plain` made these dicts and lists."""
        parameters = tuple(
            Parameter(**{**parameter, "kind": ParameterKind(parameter["kind"])})
            for parameter in plain["parameters"]
        )
        return cls(**{**plain, "parameters": parameters})


def parse_launchers(files: Mapping[str, str]) -> tuple[Launcher, ...]:
    """Every launcher of the `.cu` files, in the order of paths and lines.

    >>> source = 'extern "C" void fill(float* out, int n, cudaStream_t stream) {}'
    >>> [str(launcher) for launcher in parse_launchers({"kernels/fill.cu": source})]
    ['fill(float* out, int n)']

    Raises:
        CompileError: no launcher at all, two of one name, or one that Python cannot call.
    """
    launchers: dict[str, Launcher] = {}
    errors: list[Diagnostic] = []
    for path in sorted(path for path in files if path.endswith(".cu")):
        for head in extern_c_heads(read_tokens(files[path])):
            try:
                launcher = _read_launcher(head, path)
                if launcher is not None and launcher.name in launchers:
                    first = launchers[launcher.name]
                    raise _Unreadable(
                        f"launcher {launcher.name!r} is already defined at {first.file}:{first.line}; "
                        "rename one of the two",
                        launcher.line,
                    )
            except _Unreadable as problem:
                errors.append(_error(problem.message, path, problem.line))
            else:
                if launcher is not None:
                    launchers[launcher.name] = launcher
    if not errors and not launchers:
        errors.append(_error(_NO_LAUNCHER))
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise CompileError(f"{errors[0]}{more}", tuple(errors))
    return tuple(launchers.values())


_NO_LAUNCHER = (
    "no launcher in the .cu files; Python calls kernels through one, for example: "
    'extern "C" void name(float* out, const float* x, int n, cudaStream_t stream) '
    "{ my_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n); }"
)
_STATUS_TYPES = frozenset({*INTEGER_BITS, "void", "cudaError_t"})
_QUALIFIERS = frozenset(
    {"volatile", "register", "restrict", "__restrict", "__restrict__", "__host__", "struct"}
)
_RESERVED = frozenset({"library", "kernel"})
_STREAM_NAMES = frozenset({"stream", "cuda_stream"})
_NO_LAUNCHERS = frozenset(
    {"static", "inline", "__inline__", "__forceinline__", "__global__", "__device__", "typedef"}
)
_NOT_PASSABLE: Mapping[str, str] = {
    "&": "is a reference; take a pointer, or the value itself",
    "&&": "is a reference; take a pointer, or the value itself",
    "...": "is variadic; name every parameter",
    "(": "is a pointer to a function, or made by a macro; write out a pointer or a number",
    "<": "is a template; take a pointer and the sizes as numbers",
}


class _Unreadable(Exception):
    """A definition that is no launcher although it should be one."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


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
        raise _Unreadable(
            f"launcher {name.text!r} has a name that cuda_extension itself uses; rename it",
            name.line,
        )
    returns = canonical_type([word for word in words[: at - 1] if word not in _QUALIFIERS])
    if returns not in _STATUS_TYPES:
        found = " ".join(words[: at - 1]) or "nothing"
        raise _Unreadable(
            f"launcher {name.text!r} returns {found!r}; return void, or int as a status "
            "(0 is success), and write results through a pointer",
            name.line,
        )
    groups = split_at_commas(head[at + 1 : after_group(head, at) - 1])
    if [token.text for group in groups for token in group] == ["void"]:
        groups = []
    parameters = tuple(
        _read_parameter(group, number, name) for number, group in enumerate(groups, start=1)
    )
    return Launcher(
        name=name.text, parameters=parameters, returns=returns, file=file, line=name.line
    )


def _read_parameter(tokens: Sequence[Token], number: int, launcher: Token) -> Parameter:
    """One parameter from its declaration."""
    written = " ".join(token.text for token in tokens)[:80]
    line = tokens[0].line if tokens else launcher.line

    def refuse(reason: str) -> _Unreadable:
        return _Unreadable(
            f"parameter {number} of launcher {launcher.text!r} ({written}) {reason}", line
        )

    words = [token.text for token in tokens if token.text not in _QUALIFIERS]
    words = words[: words.index("=")] if "=" in words else words
    for sign, reason in _NOT_PASSABLE.items():
        if sign in words:
            raise refuse(reason)
    stars = words.count("*") + words.count("[")
    if stars > 1:
        raise refuse("is a pointer to a pointer; pass each tensor by its own pointer")
    const = "const" in words[: words.index("*") if "*" in words else len(words)]
    base, name = _type_and_name([word for word in words if word != "const"])
    type_ = canonical_type(base)
    name = name or f"argument{number}"
    if (type_ == STREAM_TYPE and not stars) or (
        stars and (base == ["CUstream_st"] or (type_ == "void" and name in _STREAM_NAMES))
    ):
        return Parameter(name=name, kind=ParameterKind.STREAM, type=STREAM_TYPE)
    if stars and type_ is not None and (type_ == "void" or type_ in VALUE_TYPES):
        return Parameter(name=name, kind=ParameterKind.POINTER, type=type_, const=const)
    if not stars and type_ in SCALAR_TYPES:
        return Parameter(name=name, kind=ParameterKind.SCALAR, type=type_)
    if not stars and type_ in VALUE_TYPES:
        raise refuse("is no number of C; pass a float and convert it in the launcher")
    raise refuse(
        "has a type that Python cannot pass; use pointers to float, double, __half, "
        "__nv_bfloat16 or integers, numbers as int, long long, float, double or bool, "
        "and cudaStream_t"
    )


def _type_and_name(words: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """The words of the type, and the name where the parameter has one."""
    words = words[: words.index("[")] if "[" in words else words
    if "*" in words:
        star = words.index("*")
        return words[:star], next(iter(words[star + 1 :]), None)
    if len(words) > 1 and words[-1] not in TYPE_WORDS and words[-2] != "::":
        return words[:-1], words[-1]
    return words, None
