"""How much static shared memory each function has, read from the built library.

A `__shared__` variable is a thread-local one here, and its symbol carries the name of the function
it stands in and its size. Covered: 64-bit ELF, templates (the largest instance counts). Not
covered: variables at namespace scope, and what the compiler has optimised away.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict

__all__ = ["static_shared_bytes"]

_SYMBOL_TABLE = 2
_THREAD_LOCAL = 6
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SOURCE_NAME = re.compile(r"L?(\d+)")


def static_shared_bytes(library: bytes) -> dict[str, int]:
    """Bytes of the `__shared__` variables inside each function, by its unqualified name."""
    by_instance: dict[str, dict[str, int]] = defaultdict(dict)
    for symbol, size in _thread_local_symbols(library):
        function, _, variable = symbol.rpartition("E")
        if symbol.startswith("_ZZ") and function:
            by_instance[function][variable] = size
    largest: dict[str, int] = {}
    for instance, variables in by_instance.items():
        name = _function_name(instance)
        largest[name] = max(largest.get(name, 0), sum(variables.values()))
    return largest


def _thread_local_symbols(library: bytes) -> list[tuple[str, int]]:
    if library[:5] != b"\x7fELF\x02":
        return []
    (offset,) = struct.unpack_from("<Q", library, 0x28)
    entry_bytes, count = struct.unpack_from("<HH", library, 0x3A)
    sections = [_SECTION.unpack_from(library, offset + i * entry_bytes) for i in range(count)]
    found = []
    for _, kind, _, _, start, size, link, _, _, _ in sections:
        if kind != _SYMBOL_TABLE:
            continue
        names = sections[link][4]
        for name, info, _, _, _, bytes_ in _SYMBOL.iter_unpack(library[start : start + size]):
            if info & 0xF == _THREAD_LOCAL and bytes_:
                end = library.index(b"\0", names + name)
                found.append((library[names + name : end].decode("ascii", "replace"), bytes_))
    return found


def _function_name(mangled: str) -> str:
    """The last plain name in front of template arguments or parameters.

    >>> _function_name("_ZZN6nestedL4fillIfEEvPT_")
    'fill'
    """
    is_nested = mangled.startswith("_ZZN")
    position = 4 if is_nested else 3
    name = ""
    while match := _SOURCE_NAME.match(mangled, position):
        position = match.end() + int(match[1])
        name = mangled[match.end() : position]
        if not is_nested:
            break
    return name
