"""Variables of kernels that have no value where they are declared, and what the checking build puts there.

    float best;             stays as it is in the ordinary build: the compiler's poison, -1.7e38
    for (...) best = fmaxf(best, x[i]);

A sum of that is nothing plausible, and neither is a minimum, but a maximum is right. So the checking build
puts a large positive number there, of which a maximum is wrong; whoever writes first notices neither.

Covered: numbers, pairs and quadruples of floats, arrays of these, several in one declaration, in functions of the
device. Not covered: variables of other types (of templates, halves, pointers), members, functions of classes, what macros declare;
these hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cuda_gym.judge.toolchains.cuda_declarations import Kind, declarations
from cuda_gym.judge.toolchains.cuda_source import IDENTIFIER, Edits, Source, closing

__all__ = ["UnsetVariable", "unset_variables", "with_values"]

_WORDS: Final = (
    "unsigned", "signed", "short", "int", "long", "char", "float", "double", "size_t", "float2", "float4",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
)  # fmt: skip
_DIMENSIONS: Final = r"(?:\s*\[[^\[\];{}=]*\])*"
_VALUE: Final = r"(?:\s*=\s*[^,;{}()\[\]=]+)?"
_DECLARED: Final = rf"{IDENTIFIER}{_DIMENSIONS}{_VALUE}"
_DECLARATION: Final = re.compile(
    rf"(?<=[;{{}}])\s*(?:(?:{'|'.join(_WORDS)})\s+)+(?P<declared>{_DECLARED}(?:\s*,\s*{_DECLARED})*)\s*;"
)
_VARIABLE: Final = re.compile(rf"(?P<name>{IDENTIFIER}){_DIMENSIONS}(?P<value>{_VALUE})")
_CLASS: Final = re.compile(r"\b(?:struct|class|union|enum)\b[^;{}()]*\{")
_ALL_BYTES: Final = 0x7F
"""3.4e38 of a float, 2,139,062,143 of an int."""


@dataclass(frozen=True, kw_only=True)
class UnsetVariable:
    """One that is declared without a value."""

    name: str
    file: str
    line: int
    declared: int
    """Offset behind its declaration."""


_KERNELS: Final = frozenset({"__global__"})


def unset_variables(
    source: Source, kernel_words: frozenset[str] = _KERNELS
) -> Iterator[UnsetVariable]:
    """Those of a file, in its order.

    Args:
        source: The file.
        kernel_words: What makes a function a kernel.
    """
    code = source.code
    for function in declarations(source, kernel_words):
        is_on_device = function.is_kernel or function.has("__device__")
        is_constant = function.has("constexpr") or function.has("consteval")
        if function.kind is not Kind.FUNCTION or not is_on_device or is_constant:
            continue
        start = function.end if function.body is None else function.body
        members = [
            (match.start(), closing(code, match.end() - 1))
            for match in _CLASS.finditer(code, start, function.end)
        ]
        for match in _DECLARATION.finditer(code, start - 1, function.end):
            if any(first < match.end() <= last for first, last in members):
                continue
            for variable in _VARIABLE.finditer(code, *match.span("declared")):
                if not variable["value"]:
                    yield UnsetVariable(
                        name=variable["name"],
                        file=source.path,
                        line=source.line(variable.start()),
                        declared=match.end(),
                    )


def with_values(source: Source, kernel_words: frozenset[str] = _KERNELS) -> Source:
    """The file with something in every such variable; lines are kept, columns are not."""
    edits = Edits(source)
    for variable in unset_variables(source, kernel_words):
        name = variable.name
        edits.insert(
            variable.declared, f" __builtin_memset((void*)&{name}, {_ALL_BYTES}, sizeof {name});"
        )
    return Source(source.path, edits.apply().text)
