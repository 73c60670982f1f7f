"""The types that can cross from Python to a launcher, one name for each.

`unsigned`, `uint32_t` and `std::uint32_t` are all `unsigned int`; `long` is `long long`, since both
have 64 bits wherever this runs (Linux).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

__all__ = [
    "INTEGER_BITS",
    "SCALAR_TYPES",
    "STREAM_TYPE",
    "TYPE_WORDS",
    "VALUE_TYPES",
    "canonical_type",
]

INTEGER_BITS: Mapping[str, int] = {
    "char": 8,
    "signed char": 8,
    "unsigned char": 8,
    "short": 16,
    "unsigned short": 16,
    "int": 32,
    "unsigned int": 32,
    "long long": 64,
    "unsigned long long": 64,
}
"""Only those that say `unsigned` are; `char` counts as signed."""

SCALAR_TYPES = frozenset({*INTEGER_BITS, "bool", "float", "double"})
"""What a number can be passed as."""

VALUE_TYPES = (
    SCALAR_TYPES
    | {"__half", "__nv_bfloat16", "__half2", "__nv_bfloat162"}
    | {"float2", "float4", "double2", "int2", "int4"}
)
"""What a pointer can point to, beside `void`."""

STREAM_TYPE = "cudaStream_t"

_ALIASES: Mapping[str, str] = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "uint": "unsigned int",
    "int64_t": "long long",
    "uint64_t": "unsigned long long",
    "size_t": "unsigned long long",
    "ssize_t": "long long",
    "ptrdiff_t": "long long",
    "intptr_t": "long long",
    "uintptr_t": "unsigned long long",
    "half": "__half",
    "half2": "__half2",
    "nv_bfloat16": "__nv_bfloat16",
    "nv_bfloat162": "__nv_bfloat162",
    "CUstream": STREAM_TYPE,
}
_INTEGER_WORDS = frozenset({"signed", "unsigned", "char", "short", "int", "long"})
_OTHERS = frozenset({"void", STREAM_TYPE, "cudaError_t"})

TYPE_WORDS = VALUE_TYPES | _INTEGER_WORDS | _ALIASES.keys() | _OTHERS
"""Every word that is part of a type's name, and so never a parameter's."""


def canonical_type(words: Sequence[str]) -> str | None:
    """The one name of a type, from the words of any of its spellings; None for an unknown type.

    >>> canonical_type(["long", "unsigned", "int"]), canonical_type(["std", "::", "int8_t"])
    ('unsigned long long', 'signed char')
    """
    words = [word for word in words if word not in ("std", "::")]
    if words and _INTEGER_WORDS.issuperset(words):
        return _integer_type(Counter(words))
    if len(words) != 1:
        return None
    name = _ALIASES.get(words[0], words[0])
    return name if name in VALUE_TYPES or name in _OTHERS else None


def _integer_type(count: Counter[str]) -> str | None:
    """The integer type of words in any order; None where they contradict each other."""
    width = next((word for word in ("char", "short", "long") if count[word]), "int")
    is_contradiction = (
        any(number > 1 for word, number in count.items() if word != "long")
        or count["long"] > 2
        or count["signed"] + count["unsigned"] > 1
        or (width == "char" and count["int"] > 0)
        or sum(bool(count[word]) for word in ("char", "short", "long")) > 1
    )
    if is_contradiction:
        return None
    name = "long long" if width == "long" else width
    if count["unsigned"]:
        return f"unsigned {name}"
    return "signed char" if name == "char" and count["signed"] else name
