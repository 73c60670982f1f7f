"""The parameters of a C function that Python calls: what each is, and what Python passes for it.

Covered: qualifiers, attributes, arrays, default values (which are ignored: every argument is passed).
Whatever cannot be passed through C is `Unreadable`, with its line and a remedy.

Not covered: names that a source gives to types itself; `type_aliases` replaces them before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any

from cuda_gym.judge.toolchains.cuda_tokens import Token, after_group, split_at_commas
from cuda_gym.judge.toolchains.cuda_types import (
    SCALAR_TYPES,
    STREAM_TYPE,
    TYPE_WORDS,
    VALUE_TYPES,
    canonical_type,
)

__all__ = [
    "QUALIFIERS",
    "Parameter",
    "ParameterKind",
    "Unreadable",
    "parameter_groups",
    "parameters_from_plain",
    "passed",
    "read_parameters",
]


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


class Unreadable(Exception):
    """A signature that Python cannot call."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def passed(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Those that Python passes: all but the stream."""
    return tuple(p for p in parameters if p.kind is not ParameterKind.STREAM)


def parameters_from_plain(plain: Sequence[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    """The parameters of which `as_plain` made these dicts."""
    return tuple(Parameter(**{**p, "kind": ParameterKind(p["kind"])}) for p in plain)


def parameter_groups(head: Sequence[Token], opening: int) -> list[Sequence[Token]]:
    """The declarations of the parameters between the parentheses that open at a place."""
    groups = split_at_commas(head[opening + 1 : after_group(head, opening) - 1])
    if [token.text for group in groups for token in group] == ["void"]:
        return []
    return groups


def read_parameters(head: Sequence[Token], opening: int, *, owner: str) -> tuple[Parameter, ...]:
    """The parameters of a function.

    Args:
        head: The function, up to its body; its name stands in front of the parentheses.
        opening: Where the parentheses open.
        owner: `launcher` or `kernel`, for messages.

    Raises:
        Unreadable: one that Python cannot pass.
    """
    groups = parameter_groups(head, opening)
    return tuple(
        _read_parameter(group, number, head[opening - 1], owner)
        for number, group in enumerate(groups, start=1)
    )


QUALIFIERS = frozenset(
    {"volatile", "register", "restrict", "__restrict", "__restrict__", "__host__", "struct"}
)
"""Words that say nothing of what Python passes."""
_STREAM_NAMES = frozenset({"stream", "cuda_stream"})
_NOT_PASSABLE: Mapping[str, str] = {
    "&": "is a reference; take a pointer, or the value itself",
    "&&": "is a reference; take a pointer, or the value itself",
    "...": "is variadic; name every parameter",
    "(": "is a pointer to a function, or made by a macro; write out a pointer or a number",
    "<": "is a template; take a pointer and the sizes as numbers",
}


def _read_parameter(tokens: Sequence[Token], number: int, name: Token, owner: str) -> Parameter:
    """One parameter from its declaration."""
    written = " ".join(token.text for token in tokens)[:80]
    line = tokens[0].line if tokens else name.line
    function = name.text

    def refuse(reason: str) -> Unreadable:
        return Unreadable(f"parameter {number} of {owner} {function!r} ({written}) {reason}", line)

    words = [token.text for token in tokens if token.text not in QUALIFIERS]
    words = words[: words.index("=")] if "=" in words else words
    for sign, reason in _NOT_PASSABLE.items():
        if sign in words:
            raise refuse(reason)
    stars = words.count("*") + words.count("[")
    if stars > 1:
        raise refuse("is a pointer to a pointer; pass each tensor by its own pointer")
    const = "const" in words[: words.index("*") if "*" in words else len(words)]
    base, own = _type_and_name([word for word in words if word != "const"])
    type_ = canonical_type(base)
    own = own or f"argument{number}"
    if (type_ == STREAM_TYPE and not stars) or (
        stars and (base == ["CUstream_st"] or (type_ == "void" and own in _STREAM_NAMES))
    ):
        return Parameter(name=own, kind=ParameterKind.STREAM, type=STREAM_TYPE)
    if stars and type_ is not None and (type_ == "void" or type_ in VALUE_TYPES):
        return Parameter(name=own, kind=ParameterKind.POINTER, type=type_, const=const)
    if not stars and type_ in SCALAR_TYPES:
        return Parameter(name=own, kind=ParameterKind.SCALAR, type=type_)
    if not stars and type_ in VALUE_TYPES:
        raise refuse(f"is no number of C; pass a float and convert it in the {owner}")
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
